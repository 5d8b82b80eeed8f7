// cli/transcript.h - a run and its episodes as text for a terminal, and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/text.h"
#include "record/run_reader.h"

namespace agon::cli {

using agon::printable;

// "17", "17:3", "17:greedy". No sample: the greedy one if the run has it, else sample 0.
struct EpisodeName {
  std::uint64_t task = 0;
  std::optional<int> sample;
};
EpisodeName parse_episode_name(const std::string& text);  // throws Error

// The summary, of a training its metrics at the first and the last step; and one line a task.
std::string run_text(const record::RunReader& run);
Json run_json(
    const record::RunReader& run);  // {config, complete, summary or metrics {name: [[step, value]]}, episodes}
std::string episode_text(const record::Episode& episode);
Json episode_json(const record::Episode& episode);  // with tokens and what each was worth; pictures as their hashes

}  // namespace agon::cli
