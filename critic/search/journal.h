// critic/search/journal.h - everything that happened in the search of one task, in order: what the policy wrote, what
// the critic said, what the env answered, what was decided. The search depends on no other state. So an interrupted
// search resumes where its journal ends, and a finished one replays without a model. Not thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "critic/critic.h"
#include "record/journal_entry.h"

namespace agon::critic {

// The search was told to stop; its journal stands.
struct SearchStopped {};

// What a search does now against what its journal says that it did.
struct Divergence {
  std::int64_t number = 0;  // of the entry
  std::string kind;         // of what is done now
  Json recorded, now;
};

class Journal {
 public:
  using Record = std::function<void(record::JournalEntry)>;
  // `past`: the entries that there are. record: takes those that are new; may be empty.
  // When *stop becomes true, next throws SearchStopped in place of asking `live`.
  Journal(std::uint64_t task_index, std::vector<record::JournalEntry> past, Record record,
          const std::atomic<bool>* stop = nullptr);

  // The body of the next entry: of the past one, or where there is none any more of what `live` says, which is
  // recorded with its images. Throws Error where the past did something else here.
  Json next(const std::string& kind, const std::function<Json(std::vector<Image>& images)>& live);
  // The same of what is known already: env steps are played again to go on from them. Always compared.
  Json next_known(const std::string& kind, Json body, std::vector<Image> images);
  // From now on every entry of the past is made again too and held against what it was, but for times, what was written
  // ahead, log-probabilities, alternatives, a thousandth of a P(correct), and entries that are there because wall time
  // ran out. The first that differs is kept, and the past stays what counts.
  void compare() { comparing_ = true; }
  const std::optional<Divergence>& divergence() const { return divergence_; }

  // Does the work that reads the past. Where an entry of it lacks what it must say, throws Error that names it and the
  // run.
  void reading(const std::filesystem::path& run, const std::function<void()>& work) const;

  bool in_past() const { return place_ < past_.size(); }
  // "seconds" of the last entry of the past: the time that the search has taken until then.
  double past_seconds() const;

 private:
  Json asked(const std::function<Json(std::vector<Image>& images)>& live, std::vector<Image>& images);
  const record::JournalEntry& take_past(const std::string& kind);
  void hold_against(const record::JournalEntry& past, Json now);
  Json record_new(const std::string& kind, Json body, std::vector<Image> images);

  std::uint64_t task_index_;
  std::vector<record::JournalEntry> past_;
  Record record_;
  const std::atomic<bool>* stop_;
  std::size_t place_ = 0;  // in the past
  std::int64_t new_entries_ = 0;
  bool comparing_ = false;
  bool asking_ = false;  // live, and it has not answered: what it throws says nothing of the past
  std::optional<Divergence> divergence_;
};

// JSON holds UTF-8 alone, and a policy may write any bytes: what is not UTF-8 is kept as {"hex": "..."}.
Json text_json(const std::string& text);
std::string text_of(const Json& json);
Json verdict_json(const Verdict& verdict);
Verdict verdict_in(const Json& json);

}  // namespace agon::critic
