// tools/python_tool.h - the tool `python`: runs the code that a policy writes as <code>code</code>, in an interpreter
// of the sandbox. The interpreter keeps its variables and files from call to call and forks with its episode.
//   ToolSet tools({make_python_tool(Interpreters::of_process())}, {});
//   tools.add_picture(picture);
//   ToolResult result = tools.call({"", "python", {{"code", "print(1 + 1)"}}});
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "tools/tool.h"

namespace agon::sandbox {
class Sandbox;
class Session;
}  // namespace agon::sandbox

namespace agon::tools {

// Opens interpreters through one launcher process, which starts with the first interpreter and is replaced if it has
// ended. Thread-safe.
class Interpreters {
 public:
  // launcher: path of agon-sandbox; empty: next to this program.
  explicit Interpreters(std::string launcher = {});
  ~Interpreters();
  static std::shared_ptr<Interpreters> of_process();  // shared by all envs of this process

  // Starts the launcher if it is not running. Throws Error with the reason if no sandbox is available.
  void start();
  // Opens a fresh interpreter whose calls may take `seconds` each; `random` and numpy draw from `seed`. Throws Error.
  std::unique_ptr<sandbox::Session> open(double seconds, std::uint64_t seed);

 private:
  std::shared_ptr<sandbox::Sandbox> running();
  const std::string launcher_;
  std::mutex mutex_;
  std::shared_ptr<sandbox::Sandbox> sandbox_;
};

struct PythonToolOptions {
  double seconds = 10;            // time limit of a call; docs/sandbox.md has the other limits
  std::size_t most_bytes = 2000;  // limit on the output that the policy reads; longer output keeps its head and tail
  std::uint64_t seed = 0;         // of the random numbers that code draws
};

// The names by which code refers to the newest picture of the episode and to the picture that it makes. The tool
// replaces them by names of workspace files (picture_3.png).
inline constexpr const char* kInputPicture = "path_to_input_image.jpg";
inline constexpr const char* kOutputPicture = "path_to_output_image.jpg";

// Makes the tool. Its state is an interpreter, which the first call opens and fork() forks. If code ends its
// interpreter or makes it impossible to fork, the next call gets a fresh one and says so; fork() throws Error only if
// the sandbox itself fails. Code may be inside a Markdown fence. The result is the output of the code, including the
// value of a last expression (but not the True of a picture that was written), and the picture that it wrote: the one
// at kOutputPicture, else the last by name. Code that fails or hits a limit gives `failed` or `timeout`; if that ended
// the interpreter, the next call starts another. `unavailable` means that the sandbox failed, not the code. Code never
// runs longer than `seconds`, even if the call's context allows more.
std::unique_ptr<Tool> make_python_tool(std::shared_ptr<Interpreters> interpreters,
                                       const PythonToolOptions& options = {});

}  // namespace agon::tools
