#include "sandbox/launcher/backend.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/error.h"
#include "sandbox/sandbox.h"

using namespace agon;
using namespace agon::sandbox;
using namespace agon::sandbox::launcher;
using Catch::Contains;

namespace {

const Contained kContained{{"/srv/python"}, "/opt/agon/bin", "{\"floor\":\"B\"}"};

bool has(const std::vector<std::string>& words, std::vector<std::string> part) {
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}

// Runs a line in the backend; false where it is not there, which is said.
bool runs(Backend backend, Tier floor) {
  SandboxConfig config;
  config.launcher = AGON_LAUNCHER;
  config.backend = backend;
  config.floor = floor;
  try {
    Sandbox sandbox(config);
    Session session = sandbox.open();
    CHECK(session.run({.code = "import os, cv2; x = 41; print(os.path.exists('/etc/shadow'))"}).out == "False\n");
    Session fork = session.fork();
    CHECK(fork.run({.code = "x += 1; print(x)"}).out == "42\n");
    const Result result = session.run({.code = "print(x); import socket\nsocket.socket()"});
    CHECK(result.reason == Reason::exception);
    CHECK(result.out == "41\n");
    CHECK(result.tier == sandbox.tier());
    return true;
  } catch (const Error& error) {
    WARN(to_string(backend) << " was not tested: " << error.what());
    CHECK_THAT(error.what(), Contains("there is no ") || Contains("no engine answers"));
    return false;
  }
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
  CHECK(has(words, {"image:1", "/opt/agon-sandbox/agon-sandbox", "-", kContained.request}));
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--volume") CHECK_THAT(words[i + 1], Catch::EndsWith(":ro"));
  CHECK(engine_command(Backend::docker, kContained, "image:1").front() == "docker");
}

TEST_CASE("bwrap runs sessions at tier B") { runs(Backend::bwrap, Tier::b); }

TEST_CASE("an engine runs sessions at tier C at least") {
  runs(Backend::docker, Tier::c);
  runs(Backend::podman, Tier::c);
}

TEST_CASE("a backend that is none") {
  CHECK_THROWS_WITH(backend_from("chroot"), Contains("'chroot'") && Contains("bwrap"));
  CHECK(backend_from(to_string(Backend::podman)) == Backend::podman);
}
