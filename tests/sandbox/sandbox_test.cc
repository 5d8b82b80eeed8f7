#include "sandbox/sandbox.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

#include "core/error.h"
#include "core/pictures/image.h"
#include "paths.h"

using namespace agon;
using namespace agon::sandbox;
using Catch::Contains;

namespace {

SandboxConfig config() {
  SandboxConfig config;
  config.launcher = agon::test::launcher_path();
  return config;
}

SandboxConfig config(Tier tier) {
  SandboxConfig only = config();
  only.floor = only.best = tier;
  return only;
}

// One sandbox per tier, for all tests that do not damage it.
Sandbox& shared(Tier tier = Tier::b) {
  static std::map<Tier, Sandbox> sandboxes;
  const auto found = sandboxes.find(tier);
  return found != sandboxes.end() ? found->second : sandboxes.try_emplace(tier, config(tier)).first->second;
}

// The tiers that every machine of the project has.
#define BOTH_TIERS GENERATE(Tier::b, Tier::c)

Result run(Session& session, const std::string& code) { return session.run({.code = code}); }

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

std::vector<std::string> children_of(int process) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", process));
  return {std::istream_iterator<std::string>(file), {}};
}

std::vector<std::string> processes_called(const std::string& name) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string comm;
    std::ifstream(entry.path() / "comm") >> comm;
    if (comm == name) found.push_back(entry.path().filename());
  }
  return found;
}

// A config with a Python that finds no packages, in its own folder, which the sandbox may read.
SandboxConfig without_packages() {
  SandboxConfig bare = config();
  const std::filesystem::path folder = agon::test::launcher_path().parent_path() / "bare-python";
  std::filesystem::create_directories(folder);
  bare.interpreter = folder / "python3";
  std::ofstream(bare.interpreter) << "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n";
  std::filesystem::permissions(bare.interpreter, std::filesystem::perms(0755));
  bare.readable = {folder};
  return bare;
}

}  // namespace

TEST_CASE("a session keeps its state from call to call") {
  Session session = shared(BOTH_TIERS).open();
  CHECK(run(session, "x = 41").ok());
  const Result result = run(session, "x += 1\nprint(x)");
  CHECK(result.out == "42\n");
  CHECK(result.reason == Reason::ok);
  CHECK(result.alive);
  CHECK(result.wall_s > 0);
}

TEST_CASE("an exception leaves its traceback, and the session alive") {
  Session session = shared(BOTH_TIERS).open();
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
  Session session = shared(BOTH_TIERS).open();
  run(session,
      "import os\nimport numpy as np\npicture = np.zeros((4, 4))\nfile = open('notes', "
      "'w+')\nfile.write('one')\nfile.flush()\n"
      "os.mkdir('deep'); open('deep/x', 'w').write('y'); os.symlink('notes', 'link'); os.chdir('deep')");
  Session other = session.fork();
  Session third = other.fork();
  CHECK(run(other,
            "picture[0] = 7; file.write(' two'); file.flush(); print(os.path.relpath(os.getcwd(), os.environ['HOME']), "
            "open('x').read())")
            .out == "workspace/deep y\n");
  CHECK(run(session, "picture[1] = 5; file.write(' three'); file.flush(); os.remove('x')").ok());
  CHECK(run(session, "print(picture.sum(), open('../link').read())").out == "20.0 one three\n");
  CHECK(run(other, "print(picture.sum(), open('../link').read())").out == "28.0 one two\n");
  CHECK(
      run(third, "print(picture.sum(), open('../link').read(), open(os.environ['HOME'] + '/workspace/deep/x').read())")
          .out == "0.0 one y\n");
}

TEST_CASE("forks outlive what they were forked from, and the other way round") {
  auto session = std::make_unique<Session>(shared(BOTH_TIERS).open());
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
  Session session = shared(BOTH_TIERS).open();
  run(session,
      "import threading, time\nstop = threading.Event()\nthread = threading.Thread(target=stop.wait, "
      "daemon=True)\nthread.start()\nx = 5");
  Session fork = session.fork();
  CHECK(run(fork, "print(x, threading.active_count())").out == "5 1\n");
  CHECK(run(session, "print(threading.active_count())").out == "2\n");
}

TEST_CASE("files go in and out, links lead nowhere") {
  Session session = shared(BOTH_TIERS).open();
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

TEST_CASE("a file is written beside threads that write it, too") {
  Session session = shared(BOTH_TIERS).open();
  session.write("file", "one");
  REQUIRE(run(session,
              "import os, threading\nstop = []\ndef write():\n    while not stop: os.pwrite(file, bytes(1 << 22), 8)\n"
              "file = os.open('file', os.O_WRONLY)\nthreads = [threading.Thread(target=write) for _ in range(4)]\n"
              "for one in threads: one.start()")
              .ok());
  session.write("file", "second");
  CHECK(run(session, "print(open('file').read(6))\nstop.append(1)\nfor one in threads: one.join()").out == "second\n");
  CHECK_THROWS_AS(session.write("no/such/folder/file", "x"), Error);
  const std::string most(65 << 20, 'x');
  CHECK_THROWS_AS(session.write("file", most), Error);
}

TEST_CASE("a session that cannot be forked says whose fault it is") {
  Session session = shared(BOTH_TIERS).open();
  const auto refusal = [&] {
    try {
      session.fork();
      return Reason::ok;
    } catch (const ForkRefused& refused) {
      return refused.reason;
    }
  };
  run(session, "import os\nfor _ in range(70):\n    os.mkdir('d'); os.chdir('d')");
  CHECK(refusal() == Reason::disk_limit);
  run(session, "os._exit(0)");
  CHECK(refusal() == Reason::exception);
}

TEST_CASE("pictures that a call wrote come out with its result, older ones do not") {
  Session session = shared(BOTH_TIERS).open();
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
  const auto names = [&session](const char* code, bool pictures = true) {
    std::string all;
    for (const Artifact& one : session.run({.code = code, .pictures = pictures}).artifacts) all += one.name + ' ';
    return all;
  };
  CHECK(names("1").empty());
  CHECK(names("cv2.imwrite('unasked.png', picture)", false).empty());
  CHECK(names("1").empty());
  session.write("given.png", bytes);
  CHECK(names("1").empty());
  CHECK(names("cv2.imwrite('given.png', picture)") == "given.png ");
  CHECK(names("import os; os.remove('given.png')").empty());
  CHECK(names("cv2.imwrite('given.png', picture)") == "given.png ");
  CHECK(names("for i in range(9): cv2.imwrite(f'{i}.png', picture)").size() == 9 * 6);
  const Result many =
      session.run({.code = "for i in range(10, 30): cv2.imwrite(f'{i}.png', picture)", .pictures = true});
  CHECK(many.artifacts.size() == 16);
  CHECK(many.pictures_left == 4);
  CHECK(session.run({.code = "import shutil, os; os.chdir('..'); shutil.rmtree('workspace')", .pictures = true})
            .artifacts.empty());
}

TEST_CASE("each limit has its reason") {
  Sandbox& sandbox = shared(BOTH_TIERS);
  const auto reason = [&sandbox](const char* limits, const char* code) {
    Session session = sandbox.open(parse_limits(limits));
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
  CHECK(reason("", "import os, time; os.write(3, bytes(4)); time.sleep(5)") == Reason::protocol_error);
  CHECK(reason("", "import os\nr, w = os.pipe()\nos.set_blocking(r, False)\nos.read(r, 1)") == Reason::exception);
}

TEST_CASE("a timeout that the code bears leaves the session alive, one that it ignores does not") {
  Session session = shared(BOTH_TIERS).open(parse_limits("wall=0.4"));
  const Result result = run(session, "import time\ntry:\n  time.sleep(60)\nfinally:\n  kept = 5");
  CHECK(result.reason == Reason::wall_timeout);
  CHECK(result.alive);
  CHECK(run(session, "print(kept)").out == "5\n");
  const Result dead = run(session, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass");
  CHECK(dead.reason == Reason::wall_timeout);
  CHECK_FALSE(dead.alive);
  CHECK(dead.wall_s < 1.4);
  const Result after = run(session, "1");
  CHECK(after.reason == Reason::wall_timeout);  // later calls report the reason that ended the session
  CHECK_FALSE(after.ran);
  CHECK_THAT(after.text, Contains("limit"));
  CHECK_THROWS_WITH(session.fork(), Contains("ended"));
}

TEST_CASE("nothing of this process's environment or files is inside") {
  setenv("AGON_TEST_KEY", "secret-4711", 1);
  std::ofstream("/tmp/agon_sandbox_test_gold") << "gold-4711";
  Sandbox sandbox(config(BOTH_TIERS));
  Session session = sandbox.open();
  const Result result = run(session,
                            "import os\nprint(sorted(os.environ))\n"
                            "for name in ['/tmp/agon_sandbox_test_gold', '/etc/shadow'] + [f'/proc/{pid}/environ' for "
                            "pid in range(1, 70000)]:\n"
                            "  try: print('4711' in open(name, errors='replace').read())\n"
                            "  except OSError: pass\nprint('looked')");
  CHECK_THAT(result.out, !Contains("AGON") && !Contains("True") && Contains("looked"));
  std::filesystem::remove("/tmp/agon_sandbox_test_gold");
}

TEST_CASE("a launcher that is killed in mid-call loses the call, not this process, and takes its sessions with it") {
  const Tier tier = BOTH_TIERS;
  const bool supervisor_dies = GENERATE(false, true);
  Sandbox sandbox(config(tier));
  Session session = sandbox.open();
  std::thread killer([&] {
    while (processes_called("agon-stays").size() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::kill(supervisor_dies ? std::stoi(children_of(sandbox.process()).at(0)) : sandbox.process(), SIGKILL);
  });
  const Result result =
      run(session,
          "import ctypes, os, signal, time\nfor number in range(1, 65):\n  try: signal.signal(number, signal.SIG_IGN)\n"
          "  except (OSError, ValueError): pass\n"
          "if os.fork() == 0: os.setsid()\nctypes.CDLL(None).prctl(15, b'agon-stays')\ntime.sleep(8)");
  killer.join();
  for (int i = 0; i < 200 && !processes_called("agon-stays").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(processes_called("agon-stays").empty());
  CHECK(result.reason == Reason::sandbox_lost);
  CHECK(result.wall_s < 5);
  CHECK_THROWS_WITH(sandbox.open(), Contains("gone"));
}

TEST_CASE("sessions run side by side, each from its own thread") {
  Sandbox& sandbox = shared(BOTH_TIERS);
  std::vector<std::thread> threads;
  std::vector<std::string> said(6);
  for (std::size_t i = 0; i < said.size(); ++i)
    threads.emplace_back([&said, &sandbox, i] {
      Session session = sandbox.open();
      for (int round = 0; round < 5; ++round)
        run(session, "x = " + std::to_string(i) + " if " + std::to_string(round) + " == 0 else x + 10");
      said[i] = run(session, "print(x)").out;
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < said.size(); ++i) CHECK(said[i] == std::to_string(i + 40) + "\n");
}

TEST_CASE("closed sessions leave no descriptors and no processes") {
  const Tier tier = BOTH_TIERS;
  Sandbox sandbox(config(tier));
  { const Session warm = sandbox.open(); }
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 30; ++i) {
    Session session = sandbox.open();
    if (i % 3 == 0) run(session, "import os\nif os.fork() == 0:\n  os.setsid()\n  import time; time.sleep(100)");
    if (i % 5 == 0) const Session fork = session.fork();
  }
  CHECK(open_descriptors() == before);
  // The template, and for each of two spare sessions an interpreter and, if there are namespaces, an init process.
  const std::size_t rest = tier == Tier::c ? 3 : 5;
  const int supervisor = std::stoi(children_of(sandbox.process()).at(0));
  // Read once per round: short-lived helper processes come and go, such as the first count of a spare session's files.
  std::size_t children = 0;
  for (int i = 0; i < 500 && (children = children_of(supervisor).size()) != rest; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(children == rest);
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
  CHECK_THROWS_WITH(Sandbox(broken), Contains("Tier A: ") && Contains("Tier B, without cgroups, is not tried"));
  broken = config();
  broken.launcher = "/no/launcher";
  CHECK_THROWS_WITH(Sandbox(broken), Contains("/no/launcher"));
}

TEST_CASE("a Python without numpy or cv2 is named, with what to do") {
  INFO(
      "Fails where a session cannot be shown the build folder: under /tmp, or in a home that only its owner may "
      "enter.");
  SandboxConfig bare = without_packages();
  CHECK_THROWS_WITH(Sandbox(bare),
                    Contains("No module named 'numpy'") && Contains("Install it for") && Contains("leave numpy out"));
  bare.modules = {"json", "cv2"};
  CHECK_THROWS_WITH(Sandbox(bare), Contains("No module named 'cv2'") && Contains("leave cv2 out"));
  bare.modules = {};
  Sandbox sandbox(bare);
  Session session = sandbox.open();
  CHECK(run(session, "print(1 + 1)").out == "2\n");
  bare.readable = {"/tmp"};
  CHECK_THROWS_WITH(Sandbox(bare), Contains("/tmp") && Contains("of their own"));
}

TEST_CASE("a workspace on a full disk: the code, the host and a fork are told") {
  Sandbox& sandbox = shared(BOTH_TIERS);
  Session session = sandbox.open(parse_limits("disk=1M,file=1M"));
  CHECK_THROWS_WITH(session.write("large", std::string(2 << 20, 'x')), Contains("large"));
  session.write("small", std::string(900 << 10, 'x'));
  CHECK(run(session, "print(len(open('small').read()))").out == "921600\n");
  Session fork = session.fork();
  CHECK(run(fork, "print(len(open('small').read()))").out == "921600\n");
  CHECK(run(session, "open('more', 'wb').write(bytes(900 << 10))").reason == Reason::disk_limit);
  CHECK(run(fork, "import os; os.remove('small'); open('more', 'wb').write(bytes(900 << 10))").ok());
}

TEST_CASE("without modules a bare interpreter serves as well") {
  SandboxConfig bare = config();
  bare.modules = {};
  Sandbox sandbox(bare);
  Session session = sandbox.open();
  CHECK(run(session, "import sys; print('cv2' in sys.modules)").out == "False\n");
}

// CTest runs it in a place where not even root can make namespaces (sandbox/no_namespaces).
TEST_CASE("where namespaces are forbidden, tier C runs, and only if the floor allows it", "[.no_namespaces]") {
  CHECK_THROWS_WITH(Sandbox(config()), Contains("Tier A: ") &&
                                           Contains("Tier B: this machine refuses to create namespaces") &&
                                           Contains("unless the floor is C") && Contains("max_user_namespaces"));
  SandboxConfig lower = config();
  lower.floor = Tier::c;
  Sandbox sandbox(lower);
  CHECK(sandbox.tier() == Tier::c);
  REQUIRE(sandbox.missed().size() == 2);
  CHECK(sandbox.missed()[0].tier == Tier::a);
  CHECK(sandbox.missed()[1].tier == Tier::b);
  CHECK_THAT(sandbox.missed()[1].why, Contains("namespaces"));
  Session session = sandbox.open();
  const Result result = run(session, "x = 2; print(1 + 1)");
  CHECK(result.out == "2\n");
  CHECK(result.tier == Tier::c);
  Session fork = session.fork();
  CHECK(run(fork, "print(x)").out == "2\n");
}
