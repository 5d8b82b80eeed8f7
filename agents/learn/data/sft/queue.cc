#include "agents/learn/data/sft/queue.h"

#include "env/suite.h"

namespace agon::agents {
namespace {

constexpr std::size_t kAhead = 4;  // steps drawn ahead

}  // namespace

BatchQueue::BatchQueue(const DemonstrationConfig& config, const ModelFolder& folder, std::vector<std::string> classes,
                       const Shown& shown, std::int64_t first, std::int64_t last, TrainedScores scores)
    : config_(config),
      folder_(folder),
      classes_(std::move(classes)),
      shown_(shown),
      scores_(scores),
      thread_([this, first, last](const std::stop_token& stop) { produce(stop, first, last); }) {}

std::vector<SftBatch> BatchQueue::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || failure_; });
  if (ready_.empty()) std::rethrow_exception(failure_);
  std::vector<SftBatch> batches = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batches;
}

void BatchQueue::produce(const std::stop_token& stop, std::int64_t first, std::int64_t last) try {
  std::vector<std::unique_ptr<env::Env>> envs;
  std::vector<std::string> instructions;
  for (const SftSource& source : config_.sources) {
    envs.push_back((source.writer.empty() ? source.suite : source.solver()).make_env());
    instructions.push_back(source.suite.info().instructions);
  }
  for (std::int64_t step = first; step < last; ++step) {
    std::vector<SftBatch> batches;
    for (std::size_t i = 0; i < envs.size(); ++i) batches.push_back(draw(*envs[i], instructions[i], i, step));
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return ready_.size() < kAhead; })) return;
    ready_.push_back(std::move(batches));
    changed_.notify_all();
  }
} catch (...) {
  const std::lock_guard lock(mutex_);
  failure_ = std::current_exception();
  changed_.notify_all();
}

Demonstration BatchQueue::demonstration(env::Env& env, const std::string& instructions, std::size_t source,
                                        std::uint64_t number, Rng& rng) const {
  const auto& written = shown_.written_steps.at(source);
  if (!written.empty()) return demonstrate_written(env, written[number % written.size()], config_.seed);
  DemonstrationOptions options{config_.seed, number, config_.sources[source].detours, {}};
  if (const auto& answers = shown_.first_answers.at(source); !answers.empty()) {
    options.index = answers[number % answers.size()].task;
    options.first_answer = answers[number % answers.size()].message;
  }
  return demonstrate_task(env, instructions, classes_, options, rng);
}

SftBatch BatchQueue::draw(env::Env& env, const std::string& instructions, std::size_t source, std::int64_t step) const {
  const SftSource& from = config_.sources[source];
  const std::uint64_t first = config_.first_task(source);
  std::vector<SftSequence> sequences;
  Rng rng = Rng::derive(config_.seed, "demonstrations", from.suite.name() + std::to_string(from.level),
                        first + static_cast<std::uint64_t>(step));
  for (int i = 0; i < from.episodes; ++i) {
    const std::uint64_t number = first + static_cast<std::uint64_t>(step * from.episodes + i);
    sequences.push_back(encode_demonstration(demonstration(env, instructions, source, number, rng), folder_, scores_));
  }
  return make_batch(sequences, folder_.config, static_cast<int>(classes_.size()));
}

}  // namespace agon::agents
