// cli/report/training.h - the data of a report about a training run, as JSON: the curves of its metrics, the credit of
// each token of a turn, and the episodes in the page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "record/run_reader.h"

namespace agon::cli {

// [{name: "eval/charts", metrics: [{name: "pass_at_1", stride, points: [[step, value], ...], low: [...], high:
// [...]}]}] Grouped by the part before the last slash, the most important groups first. Of a curve with more than
// `most` values, each point is the mean of `stride` values, at the step of the last one; null: undefined. low and high,
// one value per point: the interval of the metrics NAME_low and NAME_high, if both exist.
Json curves_json(const std::map<std::string, record::Curve>& metrics, std::size_t most = 1000);

// The figures of a training run's log (train.jsonl, one object per step) as curves by name; a nested figure is
// OUTER/INNER. A truncated last line is skipped. Throws Error, with the line, for any other line that is not an object
// with a step.
std::map<std::string, record::Curve> logged_metrics(const std::filesystem::path& log);

// The credit of each token of a turn: {advantage, weight, kl, logprob}, each with one value per token, or one value if
// all are equal. Null for a turn without credit, or with credit that does not fit its tokens and text.
Json credit_json(const record::Turn& turn);
// The segments of a turn with credit, each cut at the ends of its tokens: [{kind, step, first, pieces [...]}]. `first`
// is the number of the segment's first token; pieces are the texts of its tokens. A token gets the characters that end
// in it, so its piece may be empty. REQUIRES: credit_json(turn) is not null.
Json token_segments_json(const record::Turn& turn);

using EpisodeKey = std::pair<std::uint64_t, int>;  // task, sample
// Whole groups from `steps` training steps, spread evenly over the steps with episodes, first and last included. At
// most `groups` per step, groups with different rewards first. The result has the first group of each step, then the
// second ones, and so on.
std::vector<EpisodeKey> chosen_episodes(const record::RunReader& run, std::size_t steps, std::size_t groups);

}  // namespace agon::cli
