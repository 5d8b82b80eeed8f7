#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agents/engine/engine.h"
#include "agents/engine/open_backend.h"
#include "agents/hub/model_folder.h"
#include "cli/commands/commands.h"
#include "cli/flags/device_flag.h"
#include "cli/flags/memory_flags.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/rng.h"

namespace agon::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchFlags {
  std::string policy, device, peer;
  MemoryFlags memory;
  std::vector<int> batches{1, 8, 32};
  int prompt_tokens = 40, new_tokens = 48, rounds = 3, threads = 0;
  bool json = false;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

int threads_of(const BenchFlags& flags) {
  return flags.threads > 0 ? flags.threads : static_cast<int>(std::thread::hardware_concurrency());
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

// Bytes per second that all threads together read from memory outside the caches.
double read_bandwidth(int threads) {
  constexpr std::size_t kWords = 16 << 20;  // 128 MB per thread
  std::vector<std::vector<std::uint64_t>> memory(static_cast<std::size_t>(threads),
                                                 std::vector<std::uint64_t>(kWords, 1));
  std::vector<double> rates;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::uint64_t> sums(memory.size() * 8);  // one cache line per thread
    const auto start = Clock::now();
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < memory.size(); ++i)
      workers.emplace_back(
          [&, i] { sums[8 * i] = std::accumulate(memory[i].begin(), memory[i].end(), std::uint64_t{0}); });
    workers.clear();
    rates.push_back(static_cast<double>(memory.size() * kWords * sizeof(std::uint64_t)) / seconds_since(start));
  }
  return *std::max_element(rates.begin(), rates.end());
}

// The model of a bench. It has no end-of-turn tokens, so every sequence has exactly the tokens asked for.
class Bench {
 public:
  Bench(const agents::PolicySource& source, const BenchFlags& flags) : flags_(flags) {
    const auto start = Clock::now();
    agents::OpenModel model = agents::open_model(source.folder, source.backend_options(), source.choices.resampler);
    folder_ = std::move(model.folder);
    folder_.config.eos_token_ids.clear();
    weight_bytes_ = model.backend->weight_bytes();
    step_bytes_ = model.backend->step_bytes();
    agents::ModelBackend& backend = *model.backend;
    engine_ = std::make_unique<agents::Engine>(std::move(model.backend), folder_.config, folder_.tokenizer,
                                               agents::EngineOptions{.threads = flags.threads});
    first_token_s_ = seconds_since(start) + seconds_of(1, 8, 1);
    backend.settle();
  }

  std::size_t weight_bytes() const { return weight_bytes_; }
  std::size_t step_bytes() const { return step_bytes_; }   // bytes read for one more token of every sequence
  double first_token_s() const { return first_token_s_; }  // from a cold start of the model
  // Prompt tokens per second, for one prompt.
  double prefill(int tokens) {
    std::vector<double> seconds;
    for (int round = 0; round < flags_.rounds; ++round) seconds.push_back(seconds_of(1, tokens, 1));
    return tokens / median(seconds);
  }
  // Tokens per second after the first one of each sequence; empty if their time is too short to measure.
  std::optional<double> decode(int batch) {
    std::vector<double> seconds;
    for (int round = 0; round < flags_.rounds; ++round) {
      const double first = seconds_of(batch, flags_.prompt_tokens, 1);
      seconds.push_back(seconds_of(batch, flags_.prompt_tokens, flags_.new_tokens + 1) - first);
    }
    const double time = median(seconds);
    return time > 0 ? std::optional(batch * flags_.new_tokens / time) : std::nullopt;
  }
  void require_room() const {
    const int most = engine_->max_context();
    if (flags_.prompt_tokens + flags_.new_tokens + 1 > most)
      throw Error(
          "bench: {} prompt tokens and {} new ones do not fit the context of {}. Lower --prompt-tokens or "
          "--new-tokens.",
          flags_.prompt_tokens, flags_.new_tokens, most);
  }

 private:
  // Random tokens that are not special; no two prompts begin alike.
  agents::EncodedPrompt prompt(int tokens) {
    agents::EncodedPrompt prompt;
    while (std::ssize(prompt.ids) < tokens) {
      const int id = random_.between(0, folder_.tokenizer->vocab_size() - 1);
      if (!folder_.tokenizer->is_special(id)) prompt.ids.push_back(id);
    }
    return prompt;
  }
  double seconds_of(int batch, int prompt_tokens, int new_tokens) {
    std::vector<agents::GenerationRequest> requests;
    for (int i = 0; i < batch; ++i) {
      agents::GenerationRequest& request = requests.emplace_back();
      request.prompt = prompt(prompt_tokens);
      request.sampling.max_tokens = new_tokens;
      request.sampling.temperature = 0;
    }
    const auto start = Clock::now();
    engine_->generate(std::move(requests));
    if (interrupted()) throw Interrupted("bench: stopped.");
    return seconds_since(start);
  }

  const BenchFlags& flags_;
  agents::ModelFolder folder_;
  std::unique_ptr<agents::Engine> engine_;
  std::size_t weight_bytes_ = 0, step_bytes_ = 0;
  double first_token_s_ = 0;
  Rng random_ = Rng::derive(0, "bench");
};

Json measure(const agents::PolicySource& source, const BenchFlags& flags) {
  watch_interrupts();
  Progress progress("bench", static_cast<std::int64_t>(flags.batches.size()) + 2, "measurements");
  Bench bench(source, flags);
  bench.require_room();
  const bool is_ours = source.choices.device == agents::kCpuDevice;
  const int threads = threads_of(flags);
  const double bandwidth = is_ours ? read_bandwidth(threads) : 0;
  progress.add(1);
  Json json{{"device", source.choices.device},
            {"weights", agents::name_of(source.choices.weights)},
            {"weight_bytes", bench.weight_bytes()},
            {"first_token_seconds", bench.first_token_s()},
            {"prompt_tokens", flags.prompt_tokens},
            {"new_tokens", flags.new_tokens},
            {"prefill", {{"tokens_per_second", bench.prefill(flags.prompt_tokens)}}},
            {"decode", Json::array()}};
  if (is_ours)
    json.update({{"kv", agents::name_of(source.choices.keys)}, {"threads", threads}, {"read_bandwidth", bandwidth}});
  progress.add(1);
  for (const int batch : flags.batches) {
    const std::optional<double> rate = bench.decode(batch);
    Json& row = json["decode"].emplace_back(Json{{"batch", batch}, {"tokens_per_second", rate ? Json(*rate) : Json()}});
    if (is_ours && rate) row["bandwidth_share"] = *rate / batch * static_cast<double>(bench.step_bytes()) / bandwidth;
    progress.add(1);
  }
  return json;
}

void print_table(const Json& json) {
  const auto device = json["device"].get<std::string>();
  const std::string where = json.contains("threads") ? fmt::format("KV {}, {} threads", json["kv"].get<std::string>(),
                                                                   json["threads"].get<int>())
                                                     : device;
  fmt::print("weights    {} ({:.1f} MB), {}; {:.2f} s from the start to the first token\n",
             json["weights"].get<std::string>(), json["weight_bytes"].get<double>() * 1e-6, where,
             json["first_token_seconds"].get<double>());
  fmt::print("prefill    {:.0f} tokens/s of a prompt of {}\n", json["prefill"]["tokens_per_second"].get<double>(),
             json["prompt_tokens"].get<int>());
  for (const Json& row : json["decode"]) {
    fmt::print("decode {:>3} ", row["batch"].get<int>());
    if (row["tokens_per_second"].is_null())
      fmt::print("too short to measure separately from its prompt; raise --new-tokens");
    else
      fmt::print("{:.1f} tokens/s", row["tokens_per_second"].get<double>());
    if (row.contains("bandwidth_share"))
      fmt::print("; the weights are read with {:.0f} % of {:.1f} GB/s", row["bandwidth_share"].get<double>() * 100,
                 json["read_bandwidth"].get<double>() * 1e-9);
    fmt::print("\n");
  }
}

// How a peer measures the same.
void print_peer(const std::string& peer, const agents::PolicySource& source, const BenchFlags& flags) {
  const std::string model = std::filesystem::absolute(source.folder).string();
  if (peer == "llama.cpp")
    print_text(fmt::format("python benchmarks/peers/llama_decode.py {}", model));
  else
    print_text(fmt::format("python benchmarks/peers/transformers_decode.py {}", model));
  print_text(fmt::format(" --threads {} --prompt-tokens {} --new-tokens {} --rounds {} --batch {}\n", threads_of(flags),
                         flags.prompt_tokens, flags.new_tokens, flags.rounds, fmt::join(flags.batches, ",")));
}

}  // namespace

void add_bench(CLI::App& app) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = app.add_subcommand("bench", "Measure how fast a model reads and writes on this machine");
  command
      ->add_option("POLICY", flags->policy, std::string("Model folder or GGUF file (default: ") + kDefaultModel + ")")
      ->type_name("<path>");
  add_memory_options(*command, flags->memory);
  add_device_option(*command, flags->device);
  command->add_option("--batch", flags->batches, "Numbers of sequences that are written together")
      ->type_name("<n>")
      ->delimiter(',')
      ->check(whole_number_in(1, 4096))
      ->capture_default_str();
  command->add_option("--prompt-tokens", flags->prompt_tokens, "Tokens of a prompt")
      ->type_name("<n>")
      ->check(whole_number_in(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--new-tokens", flags->new_tokens, "Tokens that each sequence gets")
      ->type_name("<n>")
      ->check(whole_number_in(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--rounds", flags->rounds, "Number of measurements; the median is printed")
      ->type_name("<n>")
      ->check(whole_number_in(1, 1000))
      ->capture_default_str();
  command->add_option("--threads", flags->threads, "Compute threads; 0: one per core")
      ->type_name("<n>")
      ->check(whole_number_in(0, 1024))
      ->capture_default_str();
  command->add_option("--peer", flags->peer, "Measure nothing: print the command that measures the same with a peer")
      ->type_name("<name>")
      ->check(one_of({"llama.cpp", "transformers"}));
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags, command] {
    agents::PolicySource source = find_policy(flags->policy);
    if (source.endpoint)
      throw WrongUsage("bench: {} is a server, whose machine is not this one. Give a model folder.", flags->policy);
    use_memory(source, flags->memory);
    use_device(source, flags->device);
    require_threads_used(*command, source);
    if (!flags->peer.empty()) return print_peer(flags->peer, source, *flags);
    const Json json = measure(source, *flags);
    flags->json ? print_measured(json, {{"policy", policy_record(source)}}) : print_table(json);
  });
}

}  // namespace agon::cli
