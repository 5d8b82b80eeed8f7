// cli/printed_json.h - converts stored JSON to the keys that `--json` prints (docs/json.md). Stores, journals and
// models keep the keys of all versions; what a command prints has one name for each thing.
//
// Each function takes the output of the function in its comment, of this version of agon or an earlier one. A value
// that is not an object, such as the null of an incomplete run, is returned as it is.
#pragma once

#include "core/json.h"

namespace agon::cli {

Json printed_figures(const Json& stored);      // to_json(agents::RunSummary)
Json printed_difference(const Json& stored);   // to_json(agents::RunDifference)
Json printed_search(const Json& stored);       // to_json(critic::SearchSummary)
Json printed_outcome(const Json& stored);      // to_json(critic::SearchOutcome)
Json printed_ranking(const Json& stored);      // critic::ranking_json
Json printed_notes(const Json& stored);        // critic::train_reward_model and critic::train_judge: a model's notes
Json printed_preferences(const Json& stored);  // the summary of a run of `agon make-preferences`
Json printed_self_play(const Json& stored);    // the summary of a run of `agon selfplay`
Json printed_credit(const Json& stored);       // credit_json: its figures are metrics of a training run too
Json printed_provenance(const Json& stored);   // core/provenance.h, of this process or of a run's config

}  // namespace agon::cli
