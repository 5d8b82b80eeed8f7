// agon exec - runs Python scripts in a sandbox, one after another in one session, or from some point on in two forks of
// it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/usage.h"
#include "core/error.h"
#include "core/image.h"
#include "core/json.h"
#include "core/text.h"
#include "sandbox/sandbox.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct ExecFlags {
  std::vector<std::string> scripts, images, limits, modules, readable;
  std::string interpreter, floor, backend, out;
  std::optional<std::size_t> fork_after;
  bool json = false;
};

struct Call {
  std::string script;
  int fork = 0;  // 0: before the fork, else which of the two
  sandbox::Result result;
};

// Checked before anything runs.
std::vector<std::string> read_scripts(const ExecFlags& flags) {
  std::vector<std::string> texts;
  for (const std::string& script : flags.scripts) {
    if (fs::is_directory(script)) throw Error("exec: {} is a folder, not a script", script);
    texts.push_back(read_file(script));
    if (valid_utf8(texts.back()) != texts.back()) throw Error("exec: {}: is not text in UTF-8. Convert it.", script);
  }
  return texts;
}

fs::path existing(const std::string& path) {
  std::error_code failed;
  fs::path whole = fs::canonical(path, failed);
  if (failed) throw Error("exec: --readable {}: {}. Check the path.", path, failed.message());
  return whole;
}

// What would otherwise be found out after the scripts ran.
void check(const ExecFlags& flags) {
  if (flags.fork_after && *flags.fork_after >= flags.scripts.size())
    throw Error("exec: --fork-after {} leaves nothing to fork: there are {} scripts. Give 0 to {}.", *flags.fork_after,
                flags.scripts.size(), flags.scripts.size() - 1);
  if (!flags.out.empty() && fs::exists(flags.out) && !fs::is_directory(flags.out))
    throw Error("exec: --out {}: is there and is no folder. Choose another.", flags.out);
  std::set<fs::path> names;
  for (const std::string& image : flags.images)
    if (!names.insert(fs::path(image).filename()).second)
      throw Error("exec: --image {}: another one has the same name. Rename it: the workspace is one folder.", image);
}

sandbox::SandboxConfig config_of(const ExecFlags& flags) {
  sandbox::SandboxConfig config;
  if (!flags.interpreter.empty()) config.interpreter = fs::absolute(flags.interpreter);
  if (!flags.modules.empty()) config.modules = flags.modules;
  std::erase(config.modules, "");
  for (const std::string& folder : flags.readable) config.readable.push_back(existing(folder));
  if (!flags.floor.empty()) config.floor = sandbox::tier_from(flags.floor);
  if (!flags.backend.empty()) config.backend = sandbox::backend_from(flags.backend);
  return config;
}

void save_images(const sandbox::Result& result, const fs::path& folder) {
  for (const sandbox::Artifact& artifact : result.artifacts) {
    fs::create_directories(folder);
    write_file_atomically(folder / fs::path(artifact.name).filename(), artifact.bytes);
  }
}

// What is called a picture and cannot be decoded is none: the code wrote it.
void drop_what_is_no_image(sandbox::Result& result) {
  std::erase_if(result.artifacts, [](const sandbox::Artifact& artifact) {
    try {
      decode_image({reinterpret_cast<const std::uint8_t*>(artifact.bytes.data()), artifact.bytes.size()},
                   artifact.name);
      return false;
    } catch (const Error&) {
      return true;
    }
  });
}

void print_call(const Call& call) {
  const sandbox::Result& result = call.result;
  fmt::print("{}", result.out);
  if (!result.out.empty() && result.out.back() != '\n') fmt::print("\n");
  std::fflush(stdout);
  fmt::print(stderr, "{}", result.err);
  std::string images;
  for (const sandbox::Artifact& artifact : result.artifacts)
    images += fmt::format(", {} ({} bytes)", artifact.name, artifact.bytes.size());
  fmt::print(stderr, "[{}{}: {}{}, tier {}, {:.3f} s, {:.3f} s of CPU, {:.1f} MB{}{}]\n", call.script,
             call.fork ? fmt::format(", fork {}", call.fork) : "", to_string(result.reason),
             result.text.empty() || result.reason == sandbox::Reason::exception ? "" : " (" + result.text + ")",
             to_string(result.tier), result.wall_s, result.cpu_s, static_cast<double>(result.peak_memory) / 1e6,
             result.dropped_bytes ? fmt::format(", {} bytes of output left out", result.dropped_bytes) : "", images);
}

void print_json(const std::vector<Call>& calls) {
  Json list = Json::array();
  for (const Call& call : calls) {
    Json one = {{"script", call.script}, {"fork", call.fork}};
    one.update(to_json(call.result));
    list.push_back(std::move(one));
  }
  fmt::print("{}\n", list.dump(2, ' ', false, Json::error_handler_t::replace));
}

sandbox::Limits limits_of(const ExecFlags& flags) {
  sandbox::Limits limits;
  for (const std::string& text : flags.limits) limits = sandbox::parse_limits(text, limits);
  return limits;
}

std::vector<sandbox::Artifact> read_images(const ExecFlags& flags) {
  std::vector<sandbox::Artifact> images;
  for (const std::string& image : flags.images) images.push_back({fs::path(image).filename(), read_file(image)});
  return images;
}

class Exec {
 public:
  // What can be wrong with the flags is found before the sandbox starts.
  explicit Exec(const ExecFlags& flags)
      : flags_(flags),
        texts_(read_scripts(flags)),
        images_(read_images(flags)),
        limits_(limits_of(flags)),
        sandbox_(config_of(flags)) {}

  std::vector<Call> run() {
    sandbox::Session session = sandbox_.open(limits_);
    for (const sandbox::Artifact& image : images_) session.write(image.name, image.bytes);
    const std::size_t before = std::min(flags_.fork_after.value_or(texts_.size()), texts_.size());
    run_some(session, 0, before, 0);
    if (before == texts_.size()) return std::move(calls_);
    sandbox::Session other = session.fork();
    sandbox::Session third = session.fork();
    run_some(other, before, texts_.size(), 1);
    run_some(third, before, texts_.size(), 2);
    return std::move(calls_);
  }

 private:
  void run_some(sandbox::Session& session, std::size_t begin, std::size_t end, int fork) {
    for (std::size_t i = begin; i < end; ++i) {
      Call call{flags_.scripts[i], fork,
                session.run({.code = texts_[i], .name = fs::path(flags_.scripts[i]).filename(), .pictures = true})};
      drop_what_is_no_image(call.result);
      if (!flags_.out.empty())
        save_images(call.result, fork ? fs::path(flags_.out) / fmt::format("fork{}", fork) : fs::path(flags_.out));
      if (!flags_.json) print_call(call);
      calls_.push_back(std::move(call));
    }
  }

  const ExecFlags& flags_;
  const std::vector<std::string> texts_;
  const std::vector<sandbox::Artifact> images_;
  const sandbox::Limits limits_;
  sandbox::Sandbox sandbox_;
  std::vector<Call> calls_;
};

void exec(const ExecFlags& flags) {
  check(flags);
  const std::vector<Call> calls = Exec(flags).run();
  if (flags.json) print_json(calls);
  for (const Call& call : calls)
    if (!call.result.ok()) throw Failed();
}

}  // namespace

void add_exec(CLI::App& app) {
  CLI::App* command = app.add_subcommand("exec", "Run Python scripts in a sandbox, in one session that may fork");
  auto flags = std::make_shared<ExecFlags>();
  command->add_option("scripts", flags->scripts, "Python files, run one after another")
      ->required()
      ->check(CLI::ExistingFile);
  command
      ->add_option("--limit", flags->limits,
                   "wall=2,cpu=2 (seconds), memory=512M,file=,disk=,output= (bytes), processes=,inodes=")
      ->allow_extra_args(false);
  command->add_option("--image", flags->images, "Put this file into the workspace first; may be given several times")
      ->check(CLI::ExistingFile)
      ->allow_extra_args(false);
  command->add_option("--fork-after", flags->fork_after, "Run the first K scripts, then the rest in each of two forks")
      ->check(whole_number_in(0, 1'000'000));
  command->add_option("--out", flags->out, "Save the pictures that the scripts write into this folder");
  command->add_option("--floor", flags->floor, "Refuse to run below this tier of isolation (A, B or C; default B)");
  command->add_option("--backend", flags->backend,
                      "What makes the outer walls: native (default), bwrap, docker or podman");
  command->add_option("--interpreter", flags->interpreter, "Python to run (default /usr/bin/python3)");
  command
      ->add_option("--module", flags->modules,
                   "Import this before the session starts (default numpy and cv2); '' for none")
      ->allow_extra_args(false);
  command
      ->add_option("--readable", flags->readable,
                   "A folder that the sandbox may read, beside /usr: where another interpreter lies")
      ->allow_extra_args(false);
  command->add_flag("--json", flags->json, "Print one JSON array instead of the output");
  command->callback([flags] { exec(*flags); });
}

}  // namespace agon::cli
