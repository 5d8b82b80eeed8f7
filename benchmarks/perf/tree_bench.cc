// tree_bench [nodes] [threads] - what a search costs in addition to its models: nodes per second with a scripted policy
// and a constant critic, each node recorded in a run's store, and memory after a tenth of the nodes and after all of
// them. One JSON object per method.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "critic/plain_critics.h"
#include "critic/search/search_run.h"
#include "record/journal_entry.h"
#include "record/run_reader.h"

namespace {

using namespace agon;
using Clock = std::chrono::steady_clock;

constexpr int kSteps = 6;  // per trajectory

// Writes steps of five tokens, then the answer.
class Script : public agents::Policy {
 public:
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> all;
    for (const agents::CompletionRequest& request : requests) {
      agents::Completion& one = all.emplace_back();
      int steps = 0;
      for (std::size_t at = 0; (at = request.prefix.find("\n\n", at)) != std::string::npos; at += 2) ++steps;
      const bool last = steps + 1 >= kSteps;
      one.text = last ? fmt::format("<answer>{}</answer>", request.sampling.seed % 7)
                      : fmt::format("red is {}\n\n", request.sampling.seed % 1000);
      one.matched_stop = last ? "" : "\n\n";
      one.token_ids = {1, 2, 3, 4, 5};
      one.logprobs.assign(5, -0.1F);
    }
    return all;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"script", false, false, false, 1 << 20}; }
};

class Question : public env::Env {
 public:
  env::StepResult reset(const env::ResetOptions& options) override {
    task_ = {fmt::format("question/{}", options.index), 1, "toy", "How high is red?", "3"};
    env::StepResult first;
    first.observation.parts = {Part::of("How high is red?")};
    return first;
  }
  env::StepResult step(const env::Action& action) override {
    env::StepResult result;
    result.terminated = true;
    result.success = action.text.ends_with("<answer>3</answer>");
    return result;
  }
  std::unique_ptr<env::Env> fork() const override { return std::make_unique<Question>(*this); }
  const env::TaskInfo& task() const override { return task_; }

 private:
  env::TaskInfo task_;
};

std::int64_t resident_kilobytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

void run(critic::Method method, std::int64_t nodes, int threads) {
  Script policy;
  const auto critic = critic::make_constant_critic(0.9);
  critic::SearchOptions options;
  options.method.method = method;
  options.sampling.max_tokens = 1000;
  options.threads = threads;
  const std::int64_t each = method == critic::Method::guided ? kSteps + 1 : 5 * 4 * kSteps + 1;
  options.tasks = static_cast<std::uint64_t>(nodes / each);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("agon-tree-bench-{}", ::getpid());
  std::int64_t early = 0;
  double seconds = 0;
  std::int64_t searched = 0;
  {
    const auto store = record::EpisodeStore::create(folder, {{"suite", "question"}}, false);
    const auto reader = record::RunReader::open(folder);
    std::atomic<std::uint64_t> done = 0;
    const auto start = Clock::now();
    critic::search_tasks(
        policy, critic.get(), options,
        {store.get(), reader.get(),
         [&] {
           if (++done == options.tasks / 10) early = resident_kilobytes();
         }},
        [] { return std::make_unique<Question>(); }, "");
    store->flush();
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (const record::JournalEntry& entry : reader->journal_ends("result"))
      searched += entry.body.at("nodes").get<int>();
  }
  fmt::print(
      R"({{"method": "{}", "nodes": {}, "nodes_per_second": {:.0f}, "seconds": {:.2f}, "memory_at_a_tenth_kb": {}, "memory_at_the_end_kb": {}}})"
      "\n",
      to_string(method), searched, static_cast<double>(searched) / seconds, seconds, early, resident_kilobytes());
  std::filesystem::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t nodes = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  try {
    for (const auto method : {critic::Method::guided, critic::Method::beam, critic::Method::mcts})
      run(method, nodes, threads);
  } catch (const Error& error) {
    fmt::print(stderr, "tree_bench: {}\n", error.what());
    return 1;
  }
}
