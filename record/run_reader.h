// record/run_reader.h - reads a run that record/episode_store.h wrote (schema in docs/store.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/image.h"
#include "core/json.h"
#include "record/episode.h"
#include "record/journal_entry.h"

namespace agon::record {

// A metric's values in order of the steps that have it.
using Curve = std::vector<std::pair<std::int64_t, double>>;

// Read access to a finished, running or killed run; does not block a writer.
class RunReader {
 public:
  static std::unique_ptr<RunReader> open(const std::filesystem::path& folder);  // throws Error if it is no run
  virtual ~RunReader() = default;
  virtual Json config() const = 0;
  virtual Json summary() const = 0;    // null unless the run is complete
  virtual double seconds() const = 0;  // wall time that recording it took, all its processes together
  // Episodes in order (task index, sample), one at a time so that large runs fit in memory; without_images, each
  // picture is an empty part.
  enum class Detail { without_turns, without_images, whole };
  virtual void for_each(const std::function<void(const Episode&)>& visit, Detail detail) const = 0;
  virtual Episode episode(std::uint64_t task_index,
                          int sample) const = 0;  // with turns and images, of its last step; throws Error if absent
  virtual std::map<std::string, Curve> metrics() const = 0;  // of a training, by name
  virtual const std::filesystem::path& path() const = 0;     // of its database
  // A task's journal, without images; empty where it has none. Throws Error naming the entry that is damaged.
  virtual std::vector<JournalEntry> journal(std::uint64_t task_index) const = 0;
  // The last entries of all journals that end with one of that kind, in order of their tasks. damaged: is told of each
  // that cannot be read; without it, that throws.
  virtual std::vector<JournalEntry> journal_ends(const std::string& kind,
                                                 const std::function<void(const Error&)>& damaged = {}) const = 0;
  virtual Image image(const std::string& hash) const = 0;  // throws Error if absent
};

}  // namespace agon::record
