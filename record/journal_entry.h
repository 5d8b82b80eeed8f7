// record/journal_entry.h - one entry in the journal of a task's search: the log of all its events, from which the
// search resumes or replays (critic/search/journal.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/pictures/image.h"

namespace agon::record {

// A task's entries are in the order of the events that they record.
struct JournalEntry {
  std::uint64_t task_index = 0;
  std::int64_t number = 0;  // from 0, without a gap
  std::string kind;
  Json body;
  std::vector<Image> images;  // that the body names by their hashes
};

}  // namespace agon::record
