// record/episode_store.h - writes a run to disk: a folder with config.json and run.sqlite (WAL; schema in
// docs/store.md). There is one writer thread; record() returns at once and is thread-safe. Killing the process loses at
// most what was recorded since the last commit. A reopened run contains only whole episodes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "record/episode.h"
#include "record/journal_entry.h"

namespace agon::record {

// Figures of one step of a training run, by name ("reward/total"). NaN: undefined at this step.
using Metrics = std::vector<std::pair<std::string, double>>;

class EpisodeStore {
 public:
  // Creates the folder, or with resume = true opens an existing run whose stored config equals `config` (else Error
  // that names the first keys that differ). If the folder holds no run yet, resume makes no difference. Throws Error
  // when the folder holds a run already and resume is false, when it holds files that do not belong to a run, when
  // another process has the run open (file lock), or when it cannot be written.
  static std::unique_ptr<EpisodeStore> create(const std::filesystem::path& folder, const Json& config, bool resume);
  // Replaces the stored config, which create() compares with. Throws Error as create does.
  static void replace_config(const std::filesystem::path& folder, const Json& config);
  virtual ~EpisodeStore() = default;

  // Hands one episode to the writer; it replaces an earlier one of the same task, sample and training step
  // (Episode::train_step). Blocks only while the queue is full. Throws Error if an earlier write failed (full disk):
  // the caller stops the run, and everything committed before stays readable.
  virtual void record(Episode episode) = 0;
  // Hands the metrics of one training step (0: before training, else from 1; in self-play the round, from 1) to the
  // writer, after everything recorded before. They are committed together, and each replaces an earlier one of the same
  // step and name. Blocks and throws as record.
  virtual void record_metrics(std::int64_t step, Metrics metrics) = 0;
  // Hands an entry of a task's journal to the writer, in the order of their numbers. Blocks and throws as record.
  virtual void record_entry(JournalEntry entry) = 0;
  virtual void flush() = 0;  // returns when everything recorded is committed; throws as record
  // (task index, sample) of every stored episode with status done.
  virtual std::set<std::pair<std::uint64_t, int>> finished() const = 0;
  // Removes the metrics and episodes of all training steps after `step`. A training run that resumes from the
  // checkpoint of `step` (-1: from the start) records those steps again. Flushes first; throws as record.
  virtual void forget_after(std::int64_t step) = 0;
  // Ends the run: flushes and stores the summary of its figures, marking the run complete.
  virtual void finish(const Json& summary) = 0;
};

}  // namespace agon::record
