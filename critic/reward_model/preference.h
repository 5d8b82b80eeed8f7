// critic/reward_model/preference.h - several responses to one prompt with their ranks: the data that reward models are
// trained and evaluated on. The files hold records (core/json_records.h) in the form of MR2Bench (Yang et al. 2026):
//   {"id", "prompt", "images": [path or PNG next to the file], "responses": [text], "rank": [whole number of each, the
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
  std::vector<std::string> responses;  // two at least
  std::vector<int> rank;               // of each response, from 1 without a gap; equal ranks are equally good
};

// Whether all responses are equally good: nothing to learn, nothing to measure.
bool without_order(const Preference& preference);

// Calls `require` with every set and puts the command and the set's id before an Error that it throws. A long job uses
// this to report sets that do not fit before it starts.
void require_each(const std::string& command, const std::vector<Preference>& preferences,
                  const std::function<void(const Candidates&)>& require);

// The ranks 1, 2, ... in the same order, without gaps.
std::vector<int> dense_ranks(const std::vector<int>& ranks);

// Throws Error for a file that cannot be read or holds no preferences. Throws Error, naming the place, for a malformed
// record: fewer than two responses, an id used before, a rank that is missing or not a 32-bit integer, or the key
// 'image' or 'response', which the form has in the plural.
std::vector<Preference> read_preferences(const std::filesystem::path& file);

// The same for one record of responses to be scored: one response is enough, ranks are ignored. Unknown keys are
// refused. name: names the text in messages.
Candidates read_candidates(const std::string& text, const std::string& name, const std::filesystem::path& folder);

// Writes the file and its pictures (images/HASH.png next to it), the file last. Throws Error on failure.
void write_preferences(const std::filesystem::path& file, const std::vector<Preference>& preferences);

}  // namespace agon::critic
