// cli/report/training.h - what a report shows of a training, as JSON: the curves of its metrics, what each token of a
// turn was worth, and which episodes are in the page.
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
// [...]}]}] Grouped by what comes before the last slash; what a reader asks for first is first. Of a curve with more
// than `most` values, each point is the mean of `stride` values at the step of the last one; null: undefined. low and
// high, one value a point: the metrics NAME_low and NAME_high where there are both, an interval.
Json curves_json(const std::map<std::string, record::Curve>& metrics, std::size_t most = 1000);

// The figures of a training's log: train.jsonl, one object a step, as curves by name; a figure within another is
// OUTER/INNER. A last line that is cut short is passed over. Throws Error, with the line, for any other that is no
// object with a step.
std::map<std::string, record::Curve> logged_metrics(const std::filesystem::path& log);

// What each token of a turn was worth: {advantage, weight, kl, logprob}, each one value a token, or one value where all
// are equal. Null for a turn without credit, or with one that does not fit its tokens and text.
Json credit_json(const record::Turn& turn);
// Segments of a turn with credit, cut into its tokens: [{kind, step, first, pieces [...]}]; pieces are what the tokens
// from number `first` on wrote of the segment. A token shows the characters that end in it, so its piece may be empty.
// REQUIRES: credit_json(turn) is not null.
Json token_segments_json(const record::Turn& turn);

using EpisodeKey = std::pair<std::uint64_t, int>;  // task, sample
// Whole groups of `steps` training steps that are spread evenly over those with episodes, first and last included; at
// most `groups` of a step, those whose rewards differ before the others. First one group of each step, then the second
// ones, and so on.
std::vector<EpisodeKey> chosen_episodes(const record::RunReader& run, std::size_t steps, std::size_t groups);

}  // namespace agon::cli
