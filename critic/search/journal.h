// critic/search/journal.h - the journal of one task's search: everything that happened in it, in order (the policy's
// steps, the critic's verdicts, the env's answers, the method's decisions). The search depends on no other state. So an
// interrupted search resumes where its journal ends, and a finished search replays without a model. Not thread-safe.
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

// Thrown when the search was asked to stop; its journal stays valid.
struct SearchStopped {};

// A difference between what a search does now and what its journal recorded.
struct Divergence {
  std::int64_t number = 0;  // number of the entry
  std::string kind;         // kind of the entry that the search makes now
  Json recorded, now;
};

class Journal {
 public:
  using Record = std::function<void(record::JournalEntry)>;
  // past: the entries recorded earlier. record: receives new entries; may be empty. Once *stop is true, next() throws
  // SearchStopped instead of calling `live` for a new entry.
  Journal(std::uint64_t task_index, std::vector<record::JournalEntry> past, Record record,
          const std::atomic<bool>* stop = nullptr);

  // The body of the next entry. In the past it is the recorded body; after the past it is the result of `live`, which
  // is recorded with its images. Throws Error if the past entry is of another kind.
  Json next(const std::string& kind, const std::function<Json(std::vector<Image>& images)>& live);
  // The same for a body that is already computed, such as that of an env step, which is played again so that the search
  // can continue from it. The body is always compared with the past entry.
  Json next_known(const std::string& kind, Json body, std::vector<Image> images);
  // From now on, computes every past entry again and compares it with its record, except for times, tokens written
  // ahead, log-probabilities, alternatives, differences of P(correct) up to 0.001, and entries that report the end of
  // wall time. Keeps the first difference; the search still uses the past entries.
  void compare() { comparing_ = true; }
  const std::optional<Divergence>& divergence() const { return divergence_; }

  // Runs `work`, which reads the past. If an entry lacks a required value, throws Error that names the entry and the
  // run.
  void reading(const std::filesystem::path& run, const std::function<void()>& work) const;

  bool in_past() const { return place_ < past_.size(); }
  // "seconds" of the last past entry: the time that the search had taken until then.
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
  std::size_t place_ = 0;  // index into the past
  std::int64_t new_entries_ = 0;
  bool comparing_ = false;
  bool asking_ = false;  // `live` is running: an exception from it says nothing about the past
  std::optional<Divergence> divergence_;
};

// JSON holds only UTF-8, but a policy may write any bytes: text that is not UTF-8 is stored as {"hex": "..."}.
Json text_json(const std::string& text);
std::string text_of(const Json& json);
Json verdict_json(const Verdict& verdict);
Verdict verdict_in(const Json& json);

}  // namespace agon::critic
