// roles_bench one|apart ADAPTER ADAPTER ... [--in-turn] - critic-guided search of the suite arithmetic by pairs of LoRA
// adapters (solver, critic) of one base: all on one engine of the base, or each on its own engine. The pairs search at
// the same time, or with --in-turn one after another. Prints seconds and the peak memory as one JSON object.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>
#include <vector>

#include "agents/engine/local_policy.h"
#include "core/error.h"
#include "critic/discriminative_critic.h"
#include "critic/search/search_run.h"

namespace {

using namespace agon;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kTasks = 12;  // per pair
constexpr int kMostTokens = 48;

// Policies share an engine only if their options are the same.
std::unique_ptr<agents::LocalPolicy> open_role(const fs::path& adapter, int number, bool apart) {
  agents::LocalPolicyOptions options;
  if (apart) options.max_batch += number;
  return agents::make_local_policy(adapter, options);
}

critic::SearchOptions search_options() {
  critic::SearchOptions options;
  options.suite = env::Suite("arithmetic", {.level = 1});
  options.tasks = kTasks;
  options.method.method = critic::Method::guided;
  options.sampling.max_tokens = kMostTokens;
  options.threads = static_cast<int>(kTasks);
  return options;
}

void search(agents::Policy& solver, agents::Policy& judge, const fs::path& folder) {
  const auto critic = critic::make_discriminative_critic(judge);
  const auto store = record::EpisodeStore::create(folder, {{"suite", "arithmetic"}}, false);
  const auto reader = record::RunReader::open(folder);
  critic::search_tasks(solver, critic.get(), search_options(), {store.get(), reader.get(), [] {}});
}

std::int64_t peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void run(const std::vector<fs::path>& adapters, bool apart, bool in_turn) {
  std::vector<std::unique_ptr<agents::LocalPolicy>> roles;
  for (const fs::path& adapter : adapters) roles.push_back(open_role(adapter, static_cast<int>(roles.size()), apart));
  const fs::path folder = fs::temp_directory_path() / fmt::format("agon-roles-bench-{}", ::getpid());
  const auto start = Clock::now();
  {
    std::vector<std::jthread> searches;
    for (std::size_t pair = 0; 2 * pair < roles.size(); ++pair) {
      searches.emplace_back(
          [&, pair] { search(*roles[2 * pair], *roles[2 * pair + 1], folder / std::to_string(pair)); });
      if (in_turn) searches.back().join();
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fmt::print(R"({{"engines": "{}", "in_turn": {}, "roles": {}, "seconds": {:.2f}, "peak_kilobytes": {}}})"
             "\n",
             apart ? "apart" : "one", in_turn, roles.size(), seconds, peak_kilobytes());
  fs::remove_all(folder);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool in_turn = std::erase(words, "--in-turn") > 0;
  if (words.size() < 3 || words.size() % 2 == 0 || (words[0] != "one" && words[0] != "apart")) {
    fmt::print(stderr, "usage: roles_bench one|apart SOLVER CRITIC [SOLVER CRITIC ...] [--in-turn]\n");
    return 2;
  }
  try {
    run({words.begin() + 1, words.end()}, words[0] == "apart", in_turn);
  } catch (const Error& error) {
    fmt::print(stderr, "roles_bench: {}\n", error.what());
    return 1;
  }
}
