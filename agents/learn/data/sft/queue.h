// agents/learn/data/sft/queue.h - draws the batches of supervised training on its own thread, a few steps ahead of the
// trainer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agents/learn/data/sft/answers.h"
#include "agents/learn/data/sft/batch.h"
#include "agents/learn/data/sft/written.h"

namespace agon::agents {

class BatchQueue {
 public:
  // Texts written by models, shown in demonstrations: one list per source, used cyclically; empty if the source shows
  // none.
  struct Shown {
    std::vector<std::vector<FirstAnswer>> first_answers;  // of two-turn sources
    std::vector<std::vector<WrittenStep>> written_steps;  // of sources with a writer
  };
  // The batches of steps first .. last - 1, one per source and step, drawn only from (seed, step). Keeps references to
  // config, folder and shown.
  BatchQueue(const DemonstrationConfig& config, const ModelFolder& folder, std::vector<std::string> classes,
             const Shown& shown, std::int64_t first, std::int64_t last, TrainedScores scores);

  // The next step's batches, in the order of the sources. Rethrows exceptions of the suites. REQUIRES: called at most
  // last - first times.
  std::vector<SftBatch> next();

 private:
  void produce(const std::stop_token& stop, std::int64_t first, std::int64_t last);
  SftBatch draw(env::Env& env, const std::string& instructions, std::size_t source, std::int64_t step) const;
  Demonstration demonstration(env::Env& env, const std::string& instructions, std::size_t source, std::uint64_t number,
                              Rng& rng) const;

  const DemonstrationConfig& config_;
  const ModelFolder& folder_;
  const std::vector<std::string> classes_;
  const Shown& shown_;
  const TrainedScores scores_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::vector<SftBatch>> ready_;
  std::exception_ptr failure_;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace agon::agents
