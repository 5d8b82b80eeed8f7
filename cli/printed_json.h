// cli/printed_json.h - JSON that is stored, in the words in which `--json` prints it (docs/json.md). Stores, journals
// and models keep the keys that they have always had; what a command prints names one thing in one way.
//
// Each function takes what the function in its comment wrote, by this agon or by an earlier one. A value that is no
// object, such as the null of a run that is not complete, stays as it is.
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
Json printed_credit(const Json& stored);       // credit_json: its figures are metrics of a training too
Json printed_provenance(const Json& stored);   // core/provenance.h, of this process or of a run's config

}  // namespace agon::cli
