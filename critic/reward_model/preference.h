// critic/reward_model/preference.h - several responses to one prompt with their ranks: what reward models learn from
// and are measured on. The files hold records (core/json_records.h) in the form of MR2Bench (Yang et al. 2026):
//   {"id", "prompt", "images": [path or PNG beside the file], "responses": [text], "rank": [whole number of each, the
//    smallest is the best], "category", "instructions"}
// Optional: images, category (figures are kept apart by it; default: the file's name), instructions (a system message).
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
  std::vector<Message> messages;       // what is answered: instructions, then pictures and prompt
  std::vector<std::string> responses;  // two at least
  std::vector<int> rank;               // of each, from 1 without a gap; equal ranks are equally good
};

// All responses are equally good: nothing to learn, nothing to measure.
bool without_order(const Preference& preference);

// Calls `require` with every set; an Error that it throws gets the set's id before it, and who asks. So that what does
// not fit is said at the start of a long job.
void require_each(const std::string& command, const std::vector<Preference>& preferences,
                  const std::function<void(const Candidates&)>& require);

// The ranks 1, 2, ... in the same order, without gaps.
std::vector<int> dense_ranks(const std::vector<int>& ranks);

// Throws Error for a file that cannot be read or holds none, and for a record that is not of the form - fewer than two
// responses, an id of another, a rank that is missing or no whole number of 32 bits, 'image' or 'response' where the
// form has more of them
// -, naming its place.
std::vector<Preference> read_preferences(const std::filesystem::path& file);

// The same of one record, whose ranks are left aside, for responses to be scored; one is enough. A key that is not of
// the form is refused. name: of the text, for messages.
Candidates read_candidates(const std::string& text, const std::string& name, const std::filesystem::path& folder);

// Writes the file and its pictures (images/HASH.png beside it), the file last. Throws Error where it cannot.
void write_preferences(const std::filesystem::path& file, const std::vector<Preference>& preferences);

}  // namespace agon::critic
