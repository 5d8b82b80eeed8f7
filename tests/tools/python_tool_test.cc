#include "tools/python_tool.h"

#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "tools/tool_format.h"
#include "tools/tool_set.h"

using namespace agon;
using namespace agon::tools;
using Catch::Contains;

namespace {

Image gray(int side, std::uint8_t value) {
  return Image(side, side, std::vector<std::uint8_t>(static_cast<std::size_t>(side * side * 3), value));
}

struct Python {
  ToolSet set;
  explicit Python(const PythonToolOptions& options = {})
      : set({make_python_tool(Interpreters::of_process(), options)}, {}) {}
  ToolResult call(const std::string& code) { return set.call({"", "python", {{"code", code}}}); }
};

std::string text_of(const ToolResult& result) {
  if (result.error) return result.error->message;
  return result.parts.empty() ? "" : result.parts.front().text;
}
std::string_view fault_of(const ToolResult& result) { return result.error ? to_string(result.error->fault) : "none"; }

// The processes whose parent is this one.
std::vector<int> children() {
  std::vector<int> ids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(entry.path() / "children");
    for (int id; file >> id;) ids.push_back(id);
  }
  return ids;
}

constexpr const char* kBrighter =
    "import cv2\n"
    "picture = cv2.imread('path_to_input_image.jpg')\n"
    "cv2.imwrite('path_to_output_image.jpg', picture + 10)\n";

}  // namespace

TEST_CASE("code keeps its variables and files from call to call, and says what it printed") {
  Python python;
  CHECK(fault_of(python.call("x = 41\nopen('note', 'w').write('hi')")) == "none");
  CHECK(text_of(python.call("x += 1\nprint(x, open('note').read())")) == "42 hi");
  CHECK(text_of(python.call("import sys\nprint('out')\nprint('err', file=sys.stderr)")) == "out\nerr");
  CHECK(text_of(python.call("y = 1")) == "The code ran, printed nothing and wrote no picture.");
}

TEST_CASE("code may stand in a fence, and is called by its tag") {
  Python python;
  const std::string turn = "<think>sum</think>\n<code>\n```python\nprint(1 + 1)\n```\n</code>";
  const auto calls = tag_calls(turn, python.set.specs());
  REQUIRE(calls.size() == 1);
  CHECK(text_of(python.set.call(calls[0])) == "2");
  CHECK(text_of(python.call("```\nprint(3)\n```")) == "3");
  CHECK(text_of(python.call("```python\nprint(4)")) == "4");
  CHECK_THAT(text_of(python.call("```python")), Contains("SyntaxError"));
  CHECK(text_of(python.call("Here it is:\n\n```py\nprint(5)\n```\nIt prints 5.")) == "5");
  CHECK(text_of(python.call("```python\nprint(6)```")) == "6");
}

TEST_CASE("only a line that begins with a fence ends one") {
  Python python;
  CHECK(text_of(python.call("```python\nprint('```')\nprint(1)\n```")) == "```\n1");
  CHECK(text_of(python.call("print('```')\nprint(2)")) == "```\n2");
  CHECK(text_of(python.call("x = '```'; print(x)  # ```\nprint(3)")) == "```\n3");
  CHECK(text_of(python.call("```python\nprint('''a\n```\nb''')\n```\n")) == "a\n```\nb");
  CHECK(text_of(python.call("print('''a\n```\nb\n```''')")) == "a\n```\nb\n```");
  // Three quotes in a comment, in another string or escaped do not open a string.
  const std::string fenced = "s = '''a\n```\nb'''\nprint(s)\n```\ndone";
  CHECK(text_of(python.call("```\nx = 1  # \"\"\" no string\n" + fenced)) == "a\n```\nb");
  CHECK(text_of(python.call("```\nx = '\"\"\"'\n" + fenced)) == "a\n```\nb");
  CHECK(text_of(python.call("```\nx = \"it\\\"s '''\"\n" + fenced)) == "a\n```\nb");
  CHECK(text_of(python.call("```\nx = \"\"\"q \\\"\"\" # '''\"\"\"\n" + fenced)) == "a\n```\nb");
  CHECK(text_of(python.call("```\nx = '#'; y = '''#'''\n" + fenced)) == "a\n```\nb");
  CHECK(text_of(python.call("It's code:\n```\nprint(7)\n```\nIsn't it?")) == "7");
  CHECK(text_of(python.call("````\nprint('''\n```''')\n````")) == "```");
  CHECK_THAT(text_of(python.call("~~~\nprint(8)\n~~~")), Contains("SyntaxError"));
  CHECK(text_of(python.call("```\nprint(9)\n```\n```\nprint(10)\n```")) == "9");
}

TEST_CASE("the blanks before a fence are taken off the code") {
  Python python;
  CHECK(text_of(python.call("1. So:\n\n   ```python\n   if True:\n     print(11)\n\n   print(12)\n   ```\n")) ==
        "11\n12");
  CHECK(text_of(python.call("  ```\n  print(13)\n print(14)\n```")) == "13\n14");
  CHECK(text_of(python.call("   ```\n   print(15)```")) == "15");
  CHECK_THAT(text_of(python.call("   ```")), Contains("IndentationError"));
  CHECK(text_of(python.call("   ```\n")) == "The code ran, printed nothing and wrote no picture.");
}

TEST_CASE("the newest picture goes in, the one that the code writes comes out and is the newest") {
  Python python;
  python.set.add_picture(gray(4, 100));
  const ToolResult first = python.call(kBrighter);
  REQUIRE(first.parts.size() == 1);
  CHECK(first.parts[0].image == gray(4, 110));
  const ToolResult second = python.call(kBrighter);
  CHECK(second.parts.at(0).image == gray(4, 120));
  CHECK(python.set.pictures().size() == 3);
  CHECK(second.bytes > 0);
  // Saved over the picture itself, and under its own name next to the placeholder.
  CHECK(python.call("p = cv2.imread('path_to_input_image.jpg')\ncv2.imwrite('path_to_input_image.jpg', p - 20)")
            .parts.at(0)
            .image == gray(4, 100));
  CHECK(python.call("cv2.imwrite('zebra.png', p)\ncv2.imwrite('path_to_output_image.jpg', p * 0)").parts.at(0).image ==
        gray(4, 0));
  CHECK(python.call("cv2.imwrite('zebra.png', p - 1)\nprint('seen')").parts.at(1).image == gray(4, 119));
  // Even if the code removed the earlier files, the newest picture is put in again.
  CHECK(fault_of(python.call("import os\n[os.remove(name) for name in os.listdir('.')]")) == "none");
  CHECK(python.call(kBrighter).parts.at(0).image == gray(4, 129));
}

TEST_CASE("what is no picture is told") {
  Python python;
  CHECK_THAT(text_of(python.call("open('path_to_output_image.jpg', 'wb').write(b'no')")),
             Contains("cannot be shown") && Contains("picture_1.png"));
  CHECK_THAT(text_of(python.call("import numpy, cv2\n"
                                 "cv2.imwrite('path_to_output_image.jpg', numpy.zeros((3000, 3000), 'uint8'))")),
             Contains("cannot be shown"));
  CHECK_THAT(text_of(python.call("cv2.imwrite('path_to_output_image.jpg', numpy.zeros((2, 300), 'uint8'))")),
             Contains("300 x 2 is too long"));
  CHECK(python.set.pictures().empty());
}

TEST_CASE("what goes wrong is told with its reason, and the interpreter lives on") {
  Python python;
  const ToolResult wrong = python.call("x = 1\nprint('before')\nx / 0");
  CHECK(fault_of(wrong) == "failed");
  CHECK_THAT(text_of(wrong), Contains("before") && Contains("line 3") && Contains("ZeroDivisionError"));
  CHECK(text_of(python.call("print(x)")) == "1");
  CHECK_THAT(text_of(python.call("x = (")), Contains("SyntaxError"));
  CHECK(text_of(python.call("exit(3)")) == "SystemExit: 3");
  CHECK_THAT(text_of(python.call("\xff")), Contains("SyntaxError"));
  CHECK(text_of(python.call("print(x)")) == "1");
}

TEST_CASE("long output is cut in the middle, between characters") {
  Python python({.most_bytes = 101});
  const std::string text = text_of(python.call("print('\u00e4' * 5000 + 'end')"));
  CHECK_THAT(text, Contains("bytes ...]") && Catch::EndsWith("end"));
  CHECK(text.size() < 150);
  CHECK_NOTHROW(Json(text).dump());
}

TEST_CASE("a limit ends the call, and where it ends the interpreter the next call has a fresh one") {
  Python python({.seconds = 0.5});
  CHECK(fault_of(python.call("x = 1\nwhile True: pass")) == "timeout");
  CHECK(text_of(python.call("print(x)")) == "1");
  const ToolResult killed = python.call("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)");
  CHECK(fault_of(killed) == "failed");
  CHECK_THAT(text_of(killed), Contains("killed_by_signal") && Contains("fresh one"));
  CHECK_THAT(text_of(python.call("print(x)")), Contains("NameError"));
}

TEST_CASE("a workspace that the code has filled or spoilt is made anew") {
  Python python;
  python.set.add_picture(gray(4, 100));
  CHECK(fault_of(python.call("x = 1\nimport os\nos.remove('picture_1.png')\nos.mkdir('picture_1.png')")) == "none");
  CHECK_THAT(text_of(python.call("print('x' in globals())")), Contains("started anew") && Contains("False"));
  CHECK(python.call(kBrighter).parts.at(0).image == gray(4, 110));
}

TEST_CASE("an interpreter that earlier code ends between two calls is replaced, and the next code runs") {
  Python python;
  CHECK(fault_of(python.call("x = 1\nimport os, threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), "
                             "os._exit(0))).start()")) == "none");
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  CHECK_THAT(text_of(python.call("print('x' in globals())")), Contains("had ended") && Contains("False"));
  CHECK(text_of(python.call("print('x' in globals())")) == "False");
}

TEST_CASE("an interpreter that code keeps from being forked costs the fork its variables, nothing else") {
  Python python;
  CHECK(fault_of(python.call("x = 1\nimport os, threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), "
                             "os._exit(0))).start()")) == "none");
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  ToolSet fork = python.set.fork();
  CHECK_THAT(text_of(fork.call({"", "python", {{"code", "print('x' in globals())"}}})),
             Contains("could not be kept") && Contains("False"));
}

TEST_CASE("the value of a last expression is printed, but of code that writes its picture") {
  Python python;
  CHECK(text_of(python.call("x = 20\nx + 1")) == "21");
  CHECK(text_of(python.call("x > 1")) == "True");
  const ToolResult drawn =
      python.call("import cv2, numpy\ncv2.imwrite('path_to_output_image.jpg', numpy.zeros((4, 4), 'uint8'))");
  REQUIRE(drawn.parts.size() == 1);
  CHECK(drawn.parts[0].is_image());
}

TEST_CASE("code draws the same numbers by the same seed, and forks draw others") {
  const std::string draw = "import random, numpy\nprint(random.random(), numpy.random.rand(), hash('a'))";
  const auto drawn = [&](std::uint64_t seed) { return text_of(Python({.seed = seed}).call(draw)); };
  const std::string first = drawn(1);
  CHECK(drawn(1) == first);
  CHECK(drawn(2) != first);
  Python python({.seed = 1}), again({.seed = 1});
  CHECK(text_of(python.call("import random, numpy")) == text_of(again.call("import random, numpy")));
  const ToolCall call{"", "python", {{"code", draw}}};
  ToolSet one = python.set.fork(), two = python.set.fork(), one_again = again.set.fork();
  const std::string of_one = text_of(one.call(call));
  CHECK(text_of(one_again.call(call)) == of_one);
  CHECK(text_of(two.call(call)) != of_one);
  CHECK(text_of(python.call(draw)) == first);
}

TEST_CASE("forks have futures of their own, in variables and files") {
  Python python;
  ToolSet unopened = python.set.fork();
  CHECK(fault_of(python.call("x = 1\nopen('file', 'w').write('one')")) == "none");
  CHECK(text_of(unopened.call({"", "python", {{"code", "print('x' in globals())"}}})) == "False");
  ToolSet fork = python.set.fork();
  const auto in_fork = [&](const std::string& code) { return text_of(fork.call({"", "python", {{"code", code}}})); };
  CHECK(in_fork("print(x, open('file').read())") == "1 one");
  in_fork("x = 2\nopen('file', 'w').write('two')");
  CHECK(text_of(python.call("print(x, open('file').read())")) == "1 one");
  CHECK(in_fork("print(x, open('file').read())") == "2 two");
  python.call("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)");
  CHECK(in_fork("print(x)") == "2");
  ToolSet of_dead = python.set.fork();
  CHECK_THAT(text_of(of_dead.call({"", "python", {{"code", "print(x)"}}})), Contains("NameError"));
}

TEST_CASE("a launcher that is gone is the machinery's fault, and the next session has another") {
  const auto interpreters = std::make_shared<Interpreters>();
  const std::vector<int> before = children();
  interpreters->start();
  std::vector<int> fresh = children();
  std::erase_if(fresh, [&](int id) { return std::count(before.begin(), before.end(), id) > 0; });
  REQUIRE(fresh.size() == 1);
  ToolSet tools({make_python_tool(interpreters)}, {});
  const ToolCall call{"", "python", {{"code", "print(1)"}}};
  CHECK(fault_of(tools.call(call)) == "none");
  kill(fresh[0], SIGKILL);
  ToolResult lost = tools.call(call);  // for a moment it may still answer
  for (int tries = 0; tries < 100 && !lost.error; ++tries) lost = tools.call(call);
  CHECK(fault_of(lost) == "unavailable");
  CHECK_THAT(text_of(lost), Contains("sandbox_lost"));
  CHECK(text_of(tools.call(call)) == "1");
}

TEST_CASE("where no sandbox can be had, a call says why") {
  const auto interpreters = std::make_shared<Interpreters>("/no/such/launcher");
  CHECK_THROWS_WITH(interpreters->start(), Contains("/no/such/launcher"));
  ToolSet tools({make_python_tool(interpreters)}, {});
  const ToolResult result = tools.call({"", "python", {{"code", "print(1)"}}});
  CHECK(fault_of(result) == "unavailable");
  CHECK_THAT(text_of(result), Contains("/no/such/launcher"));
}
