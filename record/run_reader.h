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
#include "core/json.h"
#include "core/pictures/image.h"
#include "record/episode.h"
#include "record/journal_entry.h"

namespace agon::record {

// A metric's values in order of the steps that have it.
using Curve = std::vector<std::pair<std::int64_t, double>>;

// Read access to a finished, running or killed run; does not block a writer.
class RunReader {
 public:
  static std::unique_ptr<RunReader> open(const std::filesystem::path& folder);  // throws Error if it is not a run
  virtual ~RunReader() = default;
  virtual Json config() const = 0;
  virtual Json summary() const = 0;    // null unless the run is complete
  virtual double seconds() const = 0;  // wall time of recording, summed over all its processes
  // Episodes in order (task index, sample, training step), one at a time so that large runs fit in memory. With
  // without_images each picture is an empty part.
  enum class Detail { without_turns, without_images, whole };
  virtual void for_each(const std::function<void(const Episode&)>& visit, Detail detail) const = 0;
  // With turns and images, from its last training step. Throws Error if absent.
  virtual Episode episode(std::uint64_t task_index, int sample) const = 0;
  virtual std::map<std::string, Curve> metrics() const = 0;  // of a training run, by name
  virtual const std::filesystem::path& path() const = 0;     // of its database
  // A task's journal, without images; empty if it has none. Throws Error naming a damaged entry.
  virtual std::vector<JournalEntry> journal(std::uint64_t task_index) const = 0;
  // The last entry of every journal whose last entry has this kind, in order of tasks. damaged: called for each entry
  // that cannot be read; without it, such an entry throws.
  virtual std::vector<JournalEntry> journal_ends(const std::string& kind,
                                                 const std::function<void(const Error&)>& damaged = {}) const = 0;
  virtual Image image(const std::string& hash) const = 0;  // throws Error if absent
};

}  // namespace agon::record
