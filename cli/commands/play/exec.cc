// agon exec - runs Python scripts in a sandbox, one after another in one session, or from some point on in two forks of
// it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/flags/usage.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "cli/report/saved_pictures.h"
#include "core/error.h"
#include "core/json.h"
#include "core/pictures/image.h"
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

// Pictures of one call: untrusted code must not keep the program busy long after it ended.
constexpr ImageLimits kPictureLimits{.cpu_seconds = 2};
constexpr double kSecondsForPictures = 10;

// A picture that could not be decoded or saved.
struct LostPicture {
  std::string name;  // the name that the code gave
  std::string why;
};

struct Call {
  std::string script;
  int fork = 0;  // 0: before the fork, else which of the two
  sandbox::Result result;
  std::vector<std::string> saved;      // paths, in the order of the artifacts; empty: that one was not saved
  std::vector<LostPicture> left_out;   // not among the artifacts: not a picture
  std::vector<LostPicture> not_saved;  // among them
};

// Read before anything runs, as unchanged bytes: the interpreter knows byte-order marks and PEP 263.
std::vector<std::string> read_scripts(const ExecFlags& flags) {
  std::vector<std::string> texts;
  for (const std::string& script : flags.scripts) {
    if (fs::is_directory(script)) throw Error("exec: {} is a folder, not a script. Give a Python file.", script);
    texts.push_back(read_file(script));
  }
  return texts;
}

fs::path existing(const std::string& path) {
  std::error_code failed;
  fs::path whole = fs::canonical(path, failed);
  if (failed) throw Error("exec: --readable {}: {}. Check the path.", path, failed.message());
  return whole;
}

// Finds errors that would otherwise appear only after the scripts ran.
void check(const ExecFlags& flags) {
  if (flags.fork_after && *flags.fork_after >= flags.scripts.size())
    throw WrongUsage("exec: --fork-after {} leaves nothing to fork: there are {} scripts. Give 0 to {}.",
                     *flags.fork_after, flags.scripts.size(), flags.scripts.size() - 1);
  std::error_code failed;
  if (const fs::file_status out = fs::status(flags.out, failed);
      !flags.out.empty() && out.type() != fs::file_type::not_found) {
    if (!fs::status_known(out)) throw Error("exec: --out {}: {}. Choose another folder.", flags.out, failed.message());
    if (!fs::is_directory(out)) throw Error("exec: --out {} exists and is not a folder. Choose another.", flags.out);
  }
  if (flags.modules.size() > 1 && std::ranges::count(flags.modules, "") > 0)
    throw WrongUsage(
        "exec: --module '' means no modules, and other modules are given too. Leave out one or the other.");
  std::set<fs::path> names;
  for (const std::string& image : flags.images)
    if (!names.insert(fs::path(image).filename()).second)
      throw WrongUsage("exec: --image {}: another image has the same name. Rename one: the workspace is one folder.",
                       image);
}

sandbox::SandboxConfig config_of(const ExecFlags& flags) {
  sandbox::SandboxConfig config;
  if (!flags.interpreter.empty()) config.interpreter = fs::absolute(flags.interpreter);
  if (!flags.modules.empty()) config.modules = flags.modules;
  std::erase(config.modules, "");
  for (const std::string& folder : flags.readable) config.readable.push_back(existing(folder));
  if (!flags.floor.empty()) config.floor = of_flags([&] { return sandbox::tier_from(flags.floor); });
  if (!flags.backend.empty()) config.backend = of_flags([&] { return sandbox::backend_from(flags.backend); });
  return config;
}

// Removes pictures that cannot be decoded from the result; the call records why.
void drop_what_is_no_image(Call& call) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::erase_if(call.result.artifacts, [&](const sandbox::Artifact& artifact) {
    try {
      if (std::chrono::duration<double>(Clock::now() - begin).count() > kSecondsForPictures)
        throw Error("not decoded: the call's other pictures took more than {:g} s. Write fewer or smaller ones.",
                    kSecondsForPictures);
      verify_image({reinterpret_cast<const std::uint8_t*>(artifact.bytes.data()), artifact.bytes.size()},
                   "not a picture", kPictureLimits);
      return false;
    } catch (const Error& error) {
      call.left_out.push_back({artifact.name, error.what()});
      return true;
    }
  });
}

// A picture that cannot be saved does not affect the results.
void save_images(Call& call, SavedPictures& saved, const fs::path& folder) {
  for (const sandbox::Artifact& artifact : call.result.artifacts) {
    call.saved.emplace_back();
    try {
      call.saved.back() = saved.save(folder, artifact.name, artifact.bytes);
    } catch (const std::exception& error) {
      call.not_saved.push_back({artifact.name, error.what()});
    }
  }
}

// Output of the code is printed as text that cannot control the terminal; --json has it unchanged.
void print_call(const Call& call) {
  const sandbox::Result& result = call.result;
  std::string out = result.out;
  if (!out.empty() && out.back() != '\n') out += '\n';
  print_text(out);
  std::string images;
  for (const sandbox::Artifact& artifact : result.artifacts)
    images += fmt::format(", {} ({} bytes)", printable_line(artifact.name), artifact.bytes.size());
  std::string text = printable(result.err);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += fmt::format(
      "[{}{}: {}{}, tier {}, {:.3f} s, {:.3f} s of CPU, {:.1f} MB{}{}]\n", printable_line(call.script),
      call.fork ? fmt::format(", fork {}", call.fork) : "", to_string(result.reason),
      result.text.empty() || result.reason == sandbox::Reason::exception ? ""
                                                                         : " (" + printable_line(result.text) + ")",
      to_string(result.tier), result.wall_s, result.cpu_s, static_cast<double>(result.peak_memory) / 1e6,
      result.dropped_bytes ? fmt::format(", {} bytes of output left out", result.dropped_bytes) : "", images);
  const auto tell = [&](const std::vector<LostPicture>& pictures, std::string_view what) {
    for (const LostPicture& picture : pictures)
      text += fmt::format("[{}: {} {}: {}]\n", printable_line(call.script), printable_line(picture.name), what,
                          printable_line(picture.why));
  };
  tell(call.left_out, "is left out");
  tell(call.not_saved, "was not saved");
  if (result.pictures_left > 0)
    text += fmt::format("[{}: {} more new pictures were left out; the limits per call are 16 and 128 MB]\n",
                        printable_line(call.script), result.pictures_left);
  std::fputs(text.c_str(), stderr);
}

Json to_json(const std::vector<LostPicture>& pictures) {
  Json list = Json::array();
  for (const LostPicture& picture : pictures) list.push_back({{"name", picture.name}, {"why", picture.why}});
  return list;
}

Json to_json(const Call& call) {
  Json json = {{"script", call.script}, {"fork", call.fork}};
  json.update(sandbox::to_json(call.result));
  for (std::size_t i = 0; i < call.saved.size(); ++i)
    json["images"][i]["saved"] = call.saved[i].empty() ? Json() : Json(call.saved[i]);
  json["left_out"] = to_json(call.left_out);
  json["not_saved"] = to_json(call.not_saved);
  return json;
}

sandbox::Limits limits_of(const ExecFlags& flags) {
  return of_flags([&] { return sandbox::parse_limits(fmt::format("{}", fmt::join(flags.limits, ","))); });
}

std::vector<sandbox::Artifact> read_images(const ExecFlags& flags) {
  std::vector<sandbox::Artifact> images;
  for (const std::string& image : flags.images) images.push_back({fs::path(image).filename(), read_file(image)});
  return images;
}

class Exec {
 public:
  // Errors in the flags are found before the sandbox starts.
  explicit Exec(const ExecFlags& flags)
      : flags_(flags),
        texts_(read_scripts(flags)),
        images_(read_images(flags)),
        limits_(limits_of(flags)),
        sandbox_(config_of(flags)) {}

  // Runs the scripts. Each of them gets a result, whatever happens to the session.
  void run() {
    sandbox::Session session = sandbox_.open(limits_);
    for (const sandbox::Artifact& image : images_) session.write(image.name, image.bytes);
    const std::size_t before = std::min(flags_.fork_after.value_or(texts_.size()), texts_.size());
    run_some(session, 0, before, 0);
    if (before == texts_.size()) return;
    ForkOrResult first = fork(session), second = fork(session);
    run_fork(first, before, 1);
    run_fork(second, before, 2);
  }

  const Json& calls() const { return calls_; }  // filled with --json
  bool failed() const { return failed_; }       // a script did not end ok, or a picture was not saved

 private:
  struct ForkOrResult {
    std::optional<sandbox::Session> session;
    sandbox::Result refused;  // the result of all scripts if there is no session
  };

  // If the code ended the session or made it impossible to fork, its remaining scripts end for that reason.
  ForkOrResult fork(sandbox::Session& session) {
    try {
      return {session.fork(), {}};
    } catch (const sandbox::ForkRefused& refused) {
      ForkOrResult none;
      none.refused.tier = sandbox_.tier();
      none.refused.reason = refused.reason;
      none.refused.text = fmt::format("not run: no fork could be made: {}", refused.what());
      return none;
    }
  }

  void run_fork(ForkOrResult& fork, std::size_t begin, int number) {
    if (fork.session) return run_some(*fork.session, begin, texts_.size(), number);
    for (std::size_t i = begin; i < texts_.size(); ++i) add({flags_.scripts[i], number, fork.refused, {}, {}, {}});
  }

  void run_some(sandbox::Session& session, std::size_t begin, std::size_t end, int fork) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::string name = fs::path(flags_.scripts[i]).filename();
      add({flags_.scripts[i], fork, session.run({.code = texts_[i], .name = name, .pictures = true}), {}, {}, {}});
    }
  }

  void add(Call call) {
    drop_what_is_no_image(call);
    if (!flags_.out.empty())
      save_images(call, saved_,
                  call.fork ? fs::path(flags_.out) / fmt::format("fork{}", call.fork) : fs::path(flags_.out));
    failed_ = failed_ || !call.result.ok() || !call.not_saved.empty();
    if (flags_.json)
      calls_.push_back(to_json(call));
    else
      print_call(call);
  }

  const ExecFlags& flags_;
  const std::vector<std::string> texts_;
  const std::vector<sandbox::Artifact> images_;
  const sandbox::Limits limits_;
  sandbox::Sandbox sandbox_;
  SavedPictures saved_;
  Json calls_ = Json::array();
  bool failed_ = false;
};

void run_scripts(const ExecFlags& flags) {
  check(flags);
  Exec exec(flags);
  exec.run();
  if (flags.json) print_measured(exec.calls());
  if (exec.failed()) throw Failed();
}

}  // namespace

void add_exec(CLI::App& app) {
  CLI::App* command = app.add_subcommand("exec", "Run Python scripts in a sandbox session that can fork");
  auto flags = std::make_shared<ExecFlags>();
  command->add_option("SCRIPT", flags->scripts, "Python files to run one after another")
      ->required()
      ->check(CLI::ExistingFile);
  command
      ->add_option("--limit", flags->limits,
                   "Limits, as wall=2,memory=512M: wall and cpu (seconds), memory, file, disk, output and kept_output "
                   "(bytes), processes, inodes")
      ->type_name("<limits>")
      ->allow_extra_args(false);
  command->add_option("--image", flags->images, "File to copy into the workspace before the first script")
      ->type_name("<path>")
      ->check(CLI::ExistingFile)
      ->allow_extra_args(false);
  command
      ->add_option("--fork-after", flags->fork_after,
                   "Number of scripts before the session forks; the remaining scripts run in each of two forks")
      ->check(whole_number_in(0, 1'000'000));
  command
      ->add_option("--out", flags->out,
                   "Folder for the pictures that the scripts write; control characters in their names are removed")
      ->type_name("<path>");
  command->add_option("--floor", flags->floor, "Lowest tier of isolation to accept: A, B or C (default: B)")
      ->type_name("<name>");
  command
      ->add_option("--backend", flags->backend,
                   "Backend that isolates: native, bwrap, docker or podman (default: native)")
      ->type_name("<name>");
  command->add_option("--interpreter", flags->interpreter, "Python interpreter (default: /usr/bin/python3)")
      ->type_name("<path>");
  command
      ->add_option("--module", flags->modules,
                   "Module to import before the session starts; '' for none (default: numpy and cv2)")
      ->type_name("<name>")
      ->allow_extra_args(false);
  command
      ->add_option("--readable", flags->readable,
                   "Folder that the sandbox may read in addition to /usr, such as the folder of another interpreter")
      ->type_name("<path>")
      ->allow_extra_args(false);
  command->add_flag("--json", flags->json, "Print one JSON array in place of the output");
  command->callback([flags] { run_scripts(*flags); });
}

}  // namespace agon::cli
