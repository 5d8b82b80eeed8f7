#include "sandbox/sandbox.h"

#include <dirent.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "core/error.h"
#include "core/image.h"

using namespace agon;
using namespace agon::sandbox;
using Catch::Contains;

namespace {

SandboxConfig config() {
  SandboxConfig config;
  config.launcher = AGON_LAUNCHER;
  return config;
}

// One for all cases that leave it whole.
Sandbox& shared() {
  static Sandbox sandbox(config());
  return sandbox;
}

Result run(Session& session, const std::string& code) { return session.run({.code = code}); }

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

}  // namespace

TEST_CASE("a session keeps its state from call to call") {
  Session session = shared().open();
  CHECK(run(session, "x = 41").ok());
  const Result result = run(session, "x += 1\nprint(x)");
  CHECK(result.out == "42\n");
  CHECK(result.reason == Reason::ok);
  CHECK(result.alive);
  CHECK(result.wall_s > 0);
}

TEST_CASE("an exception leaves its traceback, and the session alive") {
  Session session = shared().open();
  const Result result = session.run({.code = "def f():\n  return 1 / 0\n\nf()\n", .name = "step 3"});
  CHECK(result.reason == Reason::exception);
  CHECK(result.text == "ZeroDivisionError: division by zero");
  CHECK_THAT(result.err,
             Contains("File \"step 3\", line 2, in f") && Contains("return 1 / 0") && !Contains("agon-sandbox"));
  CHECK(run(session, "print('on')").out == "on\n");
  CHECK(run(session, "import sys; sys.exit(0)").ok());
  CHECK(run(session, "sys.exit(3)").text == "SystemExit: 3");
  CHECK(run(session, "def").reason == Reason::exception);
}

TEST_CASE("a fork has the variables, the open files and the workspace, and goes its own way") {
  Session session = shared().open();
  run(session,
      "import os\nimport numpy as np\npicture = np.zeros((4, 4))\nfile = open('notes', "
      "'w+')\nfile.write('one')\nfile.flush()\n"
      "os.mkdir('deep'); open('deep/x', 'w').write('y'); os.symlink('notes', 'link'); os.chdir('deep')");
  Session other = session.fork();
  Session third = other.fork();
  CHECK(run(other, "picture[0] = 7; file.write(' two'); file.flush(); print(os.getcwd(), open('x').read())").out ==
        "/home/agent/workspace/deep y\n");
  CHECK(run(session, "picture[1] = 5; file.write(' three'); file.flush(); os.remove('x')").ok());
  CHECK(run(session, "print(picture.sum(), open('../link').read())").out == "20.0 one three\n");
  CHECK(run(other, "print(picture.sum(), open('../link').read())").out == "28.0 one two\n");
  CHECK(run(third, "print(picture.sum(), open('../link').read(), open('/workspace/deep/x').read())").out ==
        "0.0 one y\n");
}

TEST_CASE("forks outlive what they were forked from, and the other way round") {
  auto session = std::make_unique<Session>(shared().open());
  run(*session, "x = 1");
  Session fork = session->fork();
  auto second = std::make_unique<Session>(fork.fork());
  session.reset();
  CHECK(run(fork, "print(x)").out == "1\n");
  CHECK(run(*second, "import os\nos.kill(os.getpid(), 9)").reason == Reason::killed_by_signal);
  second.reset();
  CHECK(run(fork, "print(x + 1)").out == "2\n");
  Session chain = fork.fork();
  for (int depth = 0; depth < 12; ++depth) chain = chain.fork();
  CHECK(run(chain, "print(x)").out == "1\n");
}

TEST_CASE("a session with threads forks too") {
  Session session = shared().open();
  run(session,
      "import threading, time\nstop = threading.Event()\nthread = threading.Thread(target=stop.wait, "
      "daemon=True)\nthread.start()\nx = 5");
  Session fork = session.fork();
  CHECK(run(fork, "print(x, threading.active_count())").out == "5 1\n");
  CHECK(run(session, "print(threading.active_count())").out == "2\n");
}

TEST_CASE("files go in and out; links lead nowhere") {
  Session session = shared().open();
  const std::string bytes("a\0b", 3);
  session.write("in.bin", bytes);
  CHECK(run(session, "print(open('in.bin', 'rb').read())").out == "b'a\\x00b'\n");
  run(session,
      "import os\nopen('out.bin', 'wb').write(b'x' * 100000)\nos.symlink('/etc/passwd', "
      "'link')\nos.mkfifo('pipe')\nos.mkdir('folder')");
  CHECK(session.read("out.bin") == std::string(100000, 'x'));
  for (const char* name : {"link", "pipe", "folder", "../tmp", "/etc/passwd", "absent", ""})
    CHECK_THROWS_AS(session.read(name), Error);
  for (const char* name : {"link", "pipe", "folder"}) CHECK_THROWS_AS(session.write(name, "x"), Error);
  CHECK(run(session, "print('alive')").ok());
}

TEST_CASE("pictures that a call wrote come out with its result, older ones do not") {
  Session session = shared().open();
  run(session,
      "import cv2, numpy as np\ncv2.imwrite('old.png', np.zeros((2, 2, 3), np.uint8))\nimport time; time.sleep(0.05)");
  const Result result = session.run({.code = "picture = np.zeros((3, 5, 3), np.uint8); picture[:, :, 2] = "
                                             "255\ncv2.imwrite('new.png', picture)\nopen('no.txt', 'w').write('x')",
                                     .pictures = true});
  REQUIRE(result.artifacts.size() == 1);
  CHECK(result.artifacts[0].name == "new.png");
  const std::string& bytes = result.artifacts[0].bytes;
  const Image image = decode_image({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "new.png");
  CHECK(image.width() == 5);
  CHECK(image.rgb()[0] == 255);
  CHECK(session.run({.code = "cv2.imwrite('old.png', picture)", .pictures = true}).artifacts.at(0).name == "old.png");
  CHECK(session.run({.code = "import shutil, os; os.chdir('..'); shutil.rmtree('workspace')", .pictures = true})
            .artifacts.empty());
}

TEST_CASE("each limit has its reason") {
  const auto reason = [](const char* limits, const char* code) {
    Session session = shared().open(parse_limits(limits));
    return run(session, code).reason;
  };
  CHECK(reason("wall=0.5", "import time; time.sleep(60)") == Reason::wall_timeout);
  CHECK(reason("wall=20,cpu=0.3", "while True: pass") == Reason::cpu_limit);
  CHECK(reason("memory=64M", "x = bytearray(300 << 20)") == Reason::memory_limit);
  CHECK(reason("processes=8",
               "import os, time\nfor i in range(20):\n  if os.fork() == 0: time.sleep(30)\ntime.sleep(30)") ==
        Reason::process_limit);
  CHECK(reason("disk=1M", "open('x', 'wb').write(bytes(4 << 20))") == Reason::disk_limit);
  CHECK(reason("file=1M,disk=8M", "open('x', 'wb').write(bytes(4 << 20))") == Reason::disk_limit);
  CHECK(reason("inodes=16", "for i in range(99): open(str(i), 'w').close()") == Reason::disk_limit);
  CHECK(reason("output=100K", "while True: print('x' * 1000)") == Reason::output_limit);
  CHECK(reason("", "import os; os.abort()") == Reason::killed_by_signal);
}

TEST_CASE("a timeout that the code bears leaves the session alive; one that it ignores does not") {
  Session session = shared().open(parse_limits("wall=0.4"));
  const Result result = run(session, "import time\ntry:\n  time.sleep(60)\nfinally:\n  kept = 5");
  CHECK(result.reason == Reason::wall_timeout);
  CHECK(result.alive);
  CHECK(run(session, "print(kept)").out == "5\n");
  const Result dead = run(session, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass");
  CHECK(dead.reason == Reason::wall_timeout);
  CHECK_FALSE(dead.alive);
  CHECK(dead.wall_s < 1.4);
  const Result after = run(session, "1");
  CHECK(after.reason == Reason::sandbox_lost);
  CHECK_THAT(after.text, Contains("limit"));
  CHECK_THROWS_WITH(session.fork(), Contains("ended"));
}

TEST_CASE("nothing of this process's environment or files is inside") {
  setenv("AGON_TEST_KEY", "secret-4711", 1);
  std::ofstream("/tmp/agon_sandbox_test_gold") << "gold-4711";
  Sandbox sandbox(config());
  Session session = sandbox.open();
  const Result result =
      run(session,
          "import os, glob\nprint(sorted(os.environ))\nprint(os.path.exists('/tmp/agon_sandbox_test_gold'), "
          "os.path.exists('/root'))\n"
          "for name in glob.glob('/proc/[0-9]*/environ'):\n  try: print(b'4711' in open(name, 'rb').read())\n  except "
          "OSError: pass");
  CHECK_THAT(result.out, !Contains("AGON") && !Contains("True") && Contains("False False"));
  std::filesystem::remove("/tmp/agon_sandbox_test_gold");
}

TEST_CASE("a launcher that is killed in mid-call loses the call, not this process, and takes its sessions with it") {
  Sandbox sandbox(config());
  Session session = sandbox.open();
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::kill(sandbox.process(), SIGKILL);
  });
  const Result result = run(session, "import time; time.sleep(8)");
  killer.join();
  CHECK(result.reason == Reason::sandbox_lost);
  CHECK(result.wall_s < 5);
  CHECK_THROWS_WITH(sandbox.open(), Contains("gone"));
}

TEST_CASE("sessions run side by side, each from its own thread") {
  std::vector<std::thread> threads;
  std::vector<std::string> said(6);
  for (std::size_t i = 0; i < said.size(); ++i)
    threads.emplace_back([&said, i] {
      Session session = shared().open();
      for (int round = 0; round < 5; ++round)
        run(session, "x = " + std::to_string(i) + " if " + std::to_string(round) + " == 0 else x + 10");
      said[i] = run(session, "print(x)").out;
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < said.size(); ++i) CHECK(said[i] == std::to_string(i + 40) + "\n");
}

TEST_CASE("closed sessions leave no descriptors and no processes") {
  Sandbox sandbox(config());
  { const Session warm = sandbox.open(); }
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 30; ++i) {
    Session session = sandbox.open();
    if (i % 3 == 0) run(session, "import os\nif os.fork() == 0:\n  os.setsid()\n  import time; time.sleep(100)");
    if (i % 5 == 0) const Session fork = session.fork();
  }
  CHECK(open_descriptors() == before);
  const auto children_of = [](const std::string& process) {
    std::ifstream file("/proc/" + process + "/task/" + process + "/children");
    return std::vector<std::string>{std::istream_iterator<std::string>(file), {}};
  };
  // The template, and for each of two spare sessions its first process and its interpreter.
  const std::string supervisor = children_of(std::to_string(sandbox.process())).at(0);
  for (int i = 0; i < 100 && children_of(supervisor).size() != 5; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(children_of(supervisor).size() == 5);
}

TEST_CASE("what cannot be started says why") {
  SandboxConfig broken = config();
  broken.interpreter = "/no/python3";
  CHECK_THROWS_WITH(Sandbox(broken), Contains("/no/python3"));
  broken = config();
  broken.modules = {"numpy", "no_such_module"};
  CHECK_THROWS_WITH(Sandbox(broken), Contains("no_such_module"));
  broken = config();
  broken.floor = Tier::a;
  CHECK_THROWS_WITH(Sandbox(broken), Contains("tier A"));
  broken = config();
  broken.launcher = "/no/launcher";
  CHECK_THROWS_WITH(Sandbox(broken), Contains("/no/launcher"));
}

TEST_CASE("without modules a bare interpreter serves as well") {
  SandboxConfig bare = config();
  bare.modules = {};
  Sandbox sandbox(bare);
  Session session = sandbox.open();
  CHECK(run(session, "import sys; print('cv2' in sys.modules)").out == "False\n");
}
