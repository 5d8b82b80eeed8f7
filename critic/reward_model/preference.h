// critic/reward_model/preference.h - preferences, the data that reward models are trained and evaluated on: several
// responses to one prompt with their ranks. A file holds records (core/json_records.h) in the form of MR2Bench (Yang et
// al. 2026):
//   {"id", "prompt", "images": [path or PNG next to the file], "responses": [text], "rank": [integer per response, the
//    smallest is the best], "category", "instructions"}
// Optional: images, category (figures are split by it; default: the file's name), instructions (a system message).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/message.h"
#include "critic/reward_model/reward_model.h"

namespace agon::critic {

struct Preference {
  std::string id, category;
  std::vector<Message> messages;       // the prompt: instructions, then pictures and text
  std::vector<std::string> responses;  // at least two
  std::vector<int> rank;               // of each response, from 1 without gaps; equal ranks: equally good
};

// Whether all responses have the same rank, so that there is nothing to learn or to measure.
bool without_order(const Preference& preference);

// Calls `require` with every set; prefixes an Error that it throws with the command and the set's id. Lets a long job
// report sets that do not fit before it starts.
void require_each(const std::string& command, const std::vector<Preference>& preferences,
                  const std::function<void(const Candidates&)>& require);

// The ranks 1, 2, ... in the same order, without gaps.
std::vector<int> dense_ranks(const std::vector<int>& ranks);

// Throws Error for a file that cannot be read or holds no preferences. Throws Error, naming the place, for a malformed
// record: fewer than two responses, an id used before, a rank that is missing or not a 32-bit integer, or the key
// 'image' or 'response' instead of its plural.
std::vector<Preference> read_preferences(const std::filesystem::path& file);

// Reads one record of responses that are to be scored: one response is enough, ranks are ignored, unknown keys are
// errors. name: how messages call the text. folder: the base of image paths.
Candidates read_candidates(const std::string& text, const std::string& name, const std::filesystem::path& folder);

// Writes the file and its pictures (images/HASH.png next to it), the file last. Throws Error on failure.
void write_preferences(const std::filesystem::path& file, const std::vector<Preference>& preferences);

}  // namespace agon::critic
