#include "sandbox/launcher/isolation/container.h"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "core/error.h"
#include "error_of.h"
#include "paths.h"
#include "sandbox/sandbox.h"

using namespace agon;
using namespace agon::sandbox;
using namespace agon::sandbox::launcher;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

namespace fs = std::filesystem;

const Contained kContained{{"/srv/python"}, "/opt/agon/bin", "{\"floor\":\"B\"}"};

bool has(const std::vector<std::string>& words, std::vector<std::string> part) {
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}

rlim_t hard_limit(decltype(RLIMIT_NOFILE) resource) {
  rlimit own{};
  REQUIRE(getrlimit(resource, &own) == 0);
  return own.rlim_max;
}

// The limit N in "--ulimit NAME=N".
rlim_t limit_in(const std::vector<std::string>& words, const std::string& name) {
  for (const std::string& word : words)
    if (word.starts_with(name + "=")) return std::stoull(word.substr(name.size() + 1));
  FAIL("no limit " << name);
  return 0;
}

SandboxConfig config_of(Backend backend, Tier floor) {
  SandboxConfig config;
  config.launcher = agon::test::launcher_path();
  config.backend = backend;
  config.floor = floor;
  return config;
}

// The error of a backend that cannot start a sandbox; empty if it can.
std::string refusal_of(Backend backend) {
  return agon::test::error_of([&] { Sandbox sandbox(config_of(backend, Tier::c)); });
}

void check_sessions(Sandbox& sandbox) {
  Session session = sandbox.open();
  CHECK(session.run({.code = "import cv2; x = 41; print(x)"}).out == "41\n");
  Session fork = session.fork();
  CHECK(fork.run({.code = "x += 1; print(x)"}).out == "42\n");
  const Result result = session.run({.code = "print(x); import socket\nsocket.socket()"});
  CHECK(result.reason == Reason::exception);
  CHECK(result.out == "41\n");
  CHECK(result.tier == sandbox.tier());
}

// A sandbox of the backend. Empty, with a message, if the backend does not work on this machine; failures inside the
// sandbox fail the test.
std::optional<Sandbox> sandbox_of(Backend backend, Tier floor) {
  const std::string name(to_string(backend));
  try {
    return std::make_optional<Sandbox>(config_of(backend, floor));
  } catch (const Error& error) {
    const std::string why = error.what();
    WARN(name << ": not tested: " << why);
    CHECK_THAT(why, StartsWith("sandbox: there is no " + name) || StartsWith("sandbox: " + name + " cannot "));
    return std::nullopt;
  }
}

void check_backend(Backend backend, Tier floor) {
  std::optional<Sandbox> sandbox = sandbox_of(backend, floor);
  if (!sandbox) return;
  check_sessions(*sandbox);
  CHECK(sandbox->open().run({.code = "import os; print(os.path.exists('/etc/shadow'))"}).out == "False\n");
}

// A docker that is a shell script, first on the PATH while this object lives.
class FakeEngine {
 public:
  explicit FakeEngine(const std::string& script) : old_path_(std::getenv("PATH")) {
    std::string name = fs::temp_directory_path() / "agon-fake-engine-XXXXXX";
    REQUIRE(mkdtemp(name.data()));
    folder_ = name;
    std::ofstream(folder_ / "docker") << "#!/bin/sh\n" << script;
    fs::permissions(folder_ / "docker", fs::perms(0755));
    setenv("PATH", (name + ":/usr/bin:/bin").c_str(), 1);
  }
  ~FakeEngine() {
    setenv("PATH", old_path_.c_str(), 1);
    fs::remove_all(folder_);
  }

 private:
  std::string old_path_;
  fs::path folder_;
};

// `docker run ... IMAGE LAUNCHER - REQUEST`, without a container.
std::string without_container() {
  return "[ \"$1\" = run ] || exit 0\n"
         "while [ \"$1\" != /opt/agon-sandbox/agon-sandbox ]; do shift; done\n"
         "shift\n"
         "exec " +
         agon::test::launcher_path().string() + " \"$@\"\n";
}

}  // namespace

TEST_CASE("bwrap makes every namespace, holds no capability and sees programs alone") {
  const std::vector<std::string> words = bwrap_command(kContained);
  CHECK(words.front() == "bwrap");
  for (const char* flag : {"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
                           "--die-with-parent", "--new-session", "--clearenv", "--as-pid-1"})
    CHECK(has(words, {flag}));
  CHECK(has(words, {"--cap-drop", "ALL"}));
  CHECK(has(words, {"--ro-bind", "/usr", "/usr"}));
  CHECK(has(words, {"--dev-bind", "/dev/null", "/dev/null"}));
  CHECK(has(words, {"--ro-bind", "/opt/agon/bin", "/opt/agon-sandbox", "--remount-ro", "/"}));
  CHECK(has(words, {"--", "/opt/agon-sandbox/agon-sandbox", "3", kContained.request}));
  CHECK(std::count(words.begin(), words.end(), "--bind") == 0);
}

TEST_CASE("an engine is given no network, no capability, and nothing to write but /tmp") {
  const std::vector<std::string> words = engine_command(Backend::podman, kContained, "image:1");
  CHECK(has(words, {"podman", "run", "--rm", "--interactive", "--network", "none", "--cap-drop", "ALL"}));
  CHECK(has(words, {"--security-opt", "no-new-privileges"}));
  CHECK(has(words, {"--read-only"}));
  CHECK(has(words, {"--user", "1000:1000"}));
  CHECK(has(words, {"--volume", "/usr:/usr:ro"}));
  CHECK(limit_in(words, "nofile") <= hard_limit(RLIMIT_NOFILE));
  CHECK(limit_in(words, "nproc") <= hard_limit(RLIMIT_NPROC));
  CHECK(has(words, {"image:1", "/opt/agon-sandbox/agon-sandbox", "-", kContained.request}));
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--volume") CHECK_THAT(words[i + 1], EndsWith(":ro"));
  CHECK(engine_command(Backend::docker, kContained, "image:1").front() == "docker");
}

TEST_CASE("bwrap runs sessions at tier B") { check_backend(Backend::bwrap, Tier::b); }

TEST_CASE("an engine runs sessions at tier C at least") {
  check_backend(Backend::docker, Tier::c);
  check_backend(Backend::podman, Tier::c);
}

TEST_CASE("an engine that answers and runs no container is quoted") {
  const FakeEngine engine(
      "case \"$1\" in\n"
      "run) echo 'docker: Error response from daemon:' >&2; echo 'no cgroup mount found.' >&2; exit 125;;\n"
      "*) echo 28.2.2;;\n"
      "esac\n");
  const std::string why = refusal_of(Backend::docker);
  CHECK_THAT(why, StartsWith("sandbox: docker cannot start a sandbox here; ") &&
                      EndsWith("Its output: docker: Error response from daemon: no cgroup mount found.") &&
                      Contains("use another backend"));
  CHECK_FALSE(sandbox_of(Backend::docker, Tier::c));
}

TEST_CASE("an engine that makes no image is quoted") {
  const FakeEngine engine("case \"$1\" in info|version) exit 0;; import) echo disk full >&2;; esac\nexit 1\n");
  CHECK_THAT(refusal_of(Backend::docker), Contains("docker cannot make an image here; ") && EndsWith("disk full"));
  CHECK_FALSE(sandbox_of(Backend::docker, Tier::c));
}

TEST_CASE("an engine that refuses without a word, by a signal, or with too many") {
  CHECK_THAT((FakeEngine("[ $1 != run ] || exit 126\n"), refusal_of(Backend::docker)), Contains("ended with code 126"));
  CHECK_THAT((FakeEngine("[ $1 != run ] || kill -9 $$\n"), refusal_of(Backend::docker)), Contains("code 137"));
  const FakeEngine engine("[ $1 != run ] || { yes no | head -n 1000000 >&2; printf 'no \\377 text' >&2; exit 125; }\n");
  const std::string why = refusal_of(Backend::docker);
  CHECK(why.size() < 3000);
  CHECK_THAT(why, Contains("docker cannot start a sandbox here; ") && EndsWith(" text"));
}

TEST_CASE("an engine that is not there") {
  const FakeEngine engine("exit 0\n");  // it restores the PATH at its end
  setenv("PATH", "/nowhere", 1);
  CHECK_THAT(refusal_of(Backend::docker), StartsWith("sandbox: there is no docker on the PATH: install it"));
  CHECK_FALSE(sandbox_of(Backend::podman, Tier::c));
}

TEST_CASE("sessions over an engine's standard streams") {
  const FakeEngine engine(without_container());
  Sandbox sandbox(config_of(Backend::docker, Tier::c));
  check_sessions(sandbox);
}

TEST_CASE("an engine's program is told where its engine is, and the launcher within is not") {
  const FakeEngine engine("[ $1 != run ] || { echo \"$DOCKER_HOST$AGON_SECRET\" >&2; echo \"$*\" >&2; exit 125; }\n");
  setenv("DOCKER_HOST", "unix:///far.sock", 1);
  setenv("AGON_SECRET", "key", 1);
  const std::string said = refusal_of(Backend::docker);
  unsetenv("DOCKER_HOST");
  unsetenv("AGON_SECRET");
  CHECK_THAT(said, Contains("Its output: unix:///far.sock run --rm") && Contains("\"interpreter\""));
  CHECK_THAT(said.substr(said.find(" run --rm")), !Contains("far.sock"));
}

TEST_CASE("a backend that is none") {
  CHECK_THROWS_WITH(backend_from("chroot"), Contains("'chroot'") && Contains("bwrap"));
  CHECK(backend_from(to_string(Backend::podman)) == Backend::podman);
}
