#include <sched.h>
#include <sqlite3.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <opencv2/core/version.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "agents/hub/model_folder.h"
#include "agents/learn/network/torch_info.h"
#include "agents/remote/remote_policy.h"
#include "cli/commands/commands.h"
#include "cli/model_folder.h"
#include "cli/provenance.h"
#include "cli/version.h"
#include "core/descriptor.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "sandbox/sandbox.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct Check {
  std::string name, value;
  bool ok = true;  // false: agon run cannot work; `value` then says why
};

Check cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {"cores", "unknown"};
  return {"cores", std::to_string(CPU_COUNT(&allowed))};
}

Check instruction_sets() {
#if defined(__x86_64__)
  std::string names;
  const auto add = [&names](bool supported, const char* name) {
    if (supported) names += (names.empty() ? "" : " ") + std::string(name);
  };
  add(__builtin_cpu_supports("sse4.2"), "sse4.2");
  add(__builtin_cpu_supports("avx"), "avx");
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512vnni"), "avx512vnni");
  add(__builtin_cpu_supports("avx512bf16"), "avx512bf16");
  return {"instructions", names.empty() ? "none beyond x86-64" : names};
#else
  return {"instructions", "those that every processor of this kind has"};
#endif
}

// A line of /proc/meminfo such as "MemTotal:  24643748 kB", in GiB.
double meminfo_gib(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + ":")) continue;
    double kib = 0;
    std::istringstream(line.substr(key.size() + 1)) >> kib;
    return kib / (1 << 20);
  }
  return 0;
}

Check memory() {
  return {"memory", fmt::format("{:.1f} GiB, {:.1f} GiB free", meminfo_gib("MemTotal"), meminfo_gib("MemAvailable"))};
}

Check libtorch() {
  try {
    const agents::TorchInfo info = agents::torch_info();
    const std::string cuda = info.cuda_compiled ? fmt::format("CUDA compiled in, {} devices seen", info.cuda_devices)
                                                : "CUDA not compiled in";
    return {"LibTorch", fmt::format("{}, {} on the CPU, {}", info.version, info.cpu_capability, cuda)};
  } catch (const Error& error) {
    return {"LibTorch", error.what(), false};
  }
}

std::string stop_text(const agents::ServerTraits& can) {
  if (can.keeps_stop) return "kept in the text";
  return can.names_stop ? "named by the server"
                        : "found by agon in the stream: the server does not say what ended a text";
}

std::string continuing_text(const agents::ServerTraits& can) {
  if (can.continuing == agents::Continuing::none) return "no: agon search and self-score need it";
  if (can.continuing == agents::Continuing::completions) return "completions, of texts alone";
  return std::string(to_string(can.continuing)) + (can.keeps_blank_end ? "" : ", without the white space at its end");
}

// The abilities of a server, one line each.
std::vector<Check> server(const std::string& policy) {
  try {
    const agents::RemotePolicy remote(agents::read_endpoint(policy));
    const agents::ServerTraits& can = remote.probed().traits;
    const auto yes = [](bool is, const char* otherwise) { return std::string(is ? "yes" : otherwise); };
    std::vector<Check> checks{
        {"model", remote.capabilities().name},
        {"context", can.context > 0 ? fmt::format("{} tokens", can.context) : "the server does not say"},
        {"temperature", yes(can.samples, "no effect: all samples are the same")},
        {"seeds", yes(can.seeds, "no: a sample is not repeatable")},
        {"n", yes(can.many, "one request a sample")},
        {"stop strings", stop_text(can)},
        {"continuing", continuing_text(can)},
        {"log-probs", yes(can.logprobs, "no: critics give verdicts without probabilities")},
        {"token ids", yes(can.token_ids, "no")},
        {"scoring", can.echoes ? "echo, of texts alone" : yes(can.scores, "no: --critic discriminative needs it")},
        {"pictures", yes(can.images, "no")},
        {"usage",
         yes(can.counts_tokens, remote.capabilities().counts_tokens ? "no: counted with the tokenizer"
                                                                    : "no: budgets of tokens cannot be kept")}};
    for (const std::string& note : remote.probed().notes) checks.push_back({"note", note});
    return checks;
  } catch (const std::exception& error) {
    return {{"server", error.what(), false}};
  }
}

Check model(const std::string& policy) {
  try {
    const fs::path folder = find_model_folder(policy);
    const agents::ModelConfig config = agents::open_model_folder(folder).config;
    const std::string sight =
        config.vision ? fmt::format("vision {} of {}", config.vision->depth, config.vision->hidden_size) : "text alone";
    return {"model",
            fmt::format("{}: {}, {} layers of {}, {}, vocabulary {}", folder.string(), config.model_type,
                        config.text.num_hidden_layers, config.text.hidden_size, sight, config.text.vocab_size)};
  } catch (const std::exception& error) {
    return {"model", error.what(), false};
  }
}

// Starts a sandbox and runs a line in it. Commands that run no code of a model work without it.
std::vector<Check> code_sandbox() {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  try {
    sandbox::Sandbox sandbox;
    const double started = seconds();
    const sandbox::Result result = sandbox.open().run({.code = "print(1 + 1)"});
    if (result.out != "2\n") return {{"sandbox", fmt::format("1 + 1 is '{}' ({})", result.out, result.text), false}};
    std::vector<Check> checks = {
        {"sandbox", fmt::format("tier {}, ready in {:.2f} s, a first session in {:.0f} ms, {} sessions at a time",
                                to_string(sandbox.tier()), started, 1e3 * (seconds() - started), sandbox.room())}};
    for (const sandbox::MissedTier& missed : sandbox.missed())
      checks.push_back({"sandbox", fmt::format("tier {} is unavailable: {}", to_string(missed.tier), missed.why)});
    return checks;
  } catch (const Error& error) {
    return {{"sandbox", fmt::format("unavailable, so code of a model does not run here: {}", error.what())}};
  }
}

// Writes and removes a file in `folder`, or in the folder where it would be created.
Check output_folder(const std::string& folder) {
  std::error_code ignored;
  fs::path place = fs::absolute(folder);
  while (!fs::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
  std::string probe = (place / ".agon-doctor-XXXXXX").string();
  const Descriptor file(fs::is_directory(place, ignored) ? mkstemp(probe.data()) : (errno = ENOTDIR, -1));
  if (!file)
    return {"output", fmt::format("{} cannot be written: {}: {}", folder, place.string(), std::strerror(errno)), false};
  unlink(probe.c_str());
  const double free_gib = static_cast<double>(fs::space(place, ignored).available) / (1 << 30);
  return {"output", fmt::format("{} can be written, {:.1f} GiB free", folder, free_gib)};
}

// The record of the model in that folder; null if the folder holds none.
Json record_of(const std::string& policy) {
  try {
    return policy_record(find_policy(policy));
  } catch (const Error&) {
    return {};
  }
}

void print(const std::vector<Check>& checks, bool ok, const std::string& policy, bool as_json) {
  if (as_json) {
    Json list = Json::array();
    for (const Check& check : checks) list.push_back({{"name", check.name}, {"value", check.value}, {"ok", check.ok}});
    print_measured({{"ok", ok}, {"checks", list}}, {{"policy", record_of(policy)}});
    return;
  }
  for (const Check& check : checks)
    fmt::print("{:<4}  {:<13} {}\n", check.ok ? "ok" : "FAIL", check.name, printable(check.value));
  fmt::print("{}\n", ok ? "agon run has what it needs." : "agon run cannot work here: see FAIL above.");
}

void examine(const std::string& policy, const std::string& out, bool as_json) {
  std::vector<Check> checks = {{"agon", version()},
                               cores(),
                               instruction_sets(),
                               memory(),
                               libtorch(),
                               {"OpenCV", CV_VERSION},
                               {"SQLite", sqlite3_libversion()}};
  const std::vector<Check> about_policy =
      agents::names_endpoint(policy) ? server(policy) : std::vector<Check>{model(policy)};
  for (const std::vector<Check>& more : {code_sandbox(), about_policy, {output_folder(out)}})
    checks.insert(checks.end(), more.begin(), more.end());
  bool ok = true;
  for (const Check& check : checks) ok = ok && check.ok;
  print(checks, ok, policy, as_json);
  if (!ok) throw Failed{};
}

}  // namespace

void add_doctor(CLI::App& app) {
  struct Options {
    std::string policy, out = "runs";
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("doctor", "Report what this machine has, and whether agon run works");
  command->add_option("--policy", options->policy, fmt::format("Model folder or server (default: {})", kDefaultModel))
      ->type_name("<path>");
  command->add_option("--out", options->out, "Folder that runs are written to")
      ->type_name("<path>")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options] { examine(options->policy, options->out, options->json); });
}

}  // namespace agon::cli
