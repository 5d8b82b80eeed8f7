// record/episode_store.h - a run on disk: a folder with config.json and run.sqlite (WAL; schema in docs/store.md). One
// writer thread; record() returns at once and is thread-safe. Killing the process loses at most what was recorded in
// the last commit interval; reopening finds whole episodes only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/image.h"
#include "core/json.h"
#include "record/episode.h"

namespace agon::record {

// Figures of one step of a training, by name ("reward/total"). NaN: undefined at this step.
using Metrics = std::vector<std::pair<std::string, double>>;

// One thing that happened in the search of a task (critic/search/journal.h), in the order in which it did.
struct JournalEntry {
  std::uint64_t task_index = 0;
  std::int64_t number = 0;  // from 0, without a gap
  std::string kind;
  Json body;
  std::vector<Image> images;  // that the body names by their hashes
};

class EpisodeStore {
 public:
  // Creates the folder, or with resume = true opens an existing run whose stored config equals `config` (else Error
  // naming the first key that differs); where there is none yet, resume makes no difference. Throws Error when the
  // folder holds a run already and resume is false, or files that are not of a run, when another process has the run
  // open (file lock), or when it cannot be written.
  static std::unique_ptr<EpisodeStore> create(const std::filesystem::path& folder, const Json& config, bool resume);
  // Puts another config in the place of the one that create() compares with. Throws Error as create does.
  static void replace_config(const std::filesystem::path& folder, const Json& config);
  virtual ~EpisodeStore() = default;

  // Hands one episode to the writer; it replaces an earlier one of the same task and sample. Blocks only while the
  // queue is full. Throws Error if an earlier write failed (full disk): the caller stops the run, and everything
  // committed before stays readable.
  virtual void record(Episode episode) = 0;
  // Hands the metrics of a step of training (from 0) to the writer, behind what was recorded before; they are committed
  // together, and each replaces an earlier one of its step and name. Blocks and throws as record.
  virtual void record_metrics(std::int64_t step, Metrics metrics) = 0;
  // Hands an entry of a task's journal to the writer, in the order of their numbers. Blocks and throws as record.
  virtual void record_entry(JournalEntry entry) = 0;
  virtual void flush() = 0;  // returns when everything recorded is committed; throws as record
  // (task index, sample) of every episode already there with status done.
  virtual std::set<std::pair<std::uint64_t, int>> finished() const = 0;
  // Removes what later steps of a training left behind: their metrics and their episodes. A training that goes on from
  // a checkpoint of `step` (-1: from the start) records those steps again. Flushes first; throws as record.
  virtual void forget_after(std::int64_t step) = 0;
  // Ends the run: flushes and stores the summary that `agon run --json` prints, marking the run complete.
  virtual void finish(const Json& summary) = 0;
};

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
