// tools/python_tool.h - the tool `python` of a policy: <code>code</code> runs in an interpreter of the sandbox that
// keeps its variables and files from call to call, and forks with its episode.
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

// The source of interpreters: one launcher, started for the first interpreter, and a new one if that has ended.
// Thread-safe.
class Interpreters {
 public:
  // launcher: path of agon-sandbox; empty: next to this program.
  explicit Interpreters(std::string launcher = {});
  ~Interpreters();
  static std::shared_ptr<Interpreters> of_process();  // that all envs of this process share

  // Starts the launcher if it does not run. Throws Error with the reason if no sandbox is available.
  void start();
  // A fresh interpreter whose calls may take `seconds` each; `random` and numpy draw from `seed`. Throws Error.
  std::unique_ptr<sandbox::Session> open(double seconds, std::uint64_t seed);

 private:
  std::shared_ptr<sandbox::Sandbox> running();
  const std::string launcher_;
  std::mutex mutex_;
  std::shared_ptr<sandbox::Sandbox> sandbox_;
};

struct PythonToolOptions {
  double seconds = 10;            // that a call may take; docs/sandbox.md has the other limits
  std::size_t most_bytes = 2000;  // of what a call printed, as the policy reads it: head and tail are kept
  std::uint64_t seed = 0;         // of what code draws at random
};

// The files of the workspace that hold the newest picture of the episode and the picture that code makes.
inline constexpr const char* kInputPicture = "path_to_input_image.jpg";
inline constexpr const char* kOutputPicture = "path_to_output_image.jpg";

// Holds state: an interpreter, from the first call on; fork() forks it. If code ends its interpreter or makes it
// impossible to fork, the next call gets a fresh one and says so; fork() throws Error only for a failure of the
// machinery. Code may stand in a Markdown fence. The result is what the code printed, the value of a last expression
// included (but not the True of a picture that was written), and the picture that it wrote: that at kOutputPicture,
// else the last by name. Code that fails or hits a limit is `failed` or `timeout`; if that ended the interpreter, the
// call after it starts another. `unavailable` is the machinery's fault alone. A call ends by `seconds`, whatever its
// context allows.
std::unique_ptr<Tool> make_python_tool(std::shared_ptr<Interpreters> interpreters,
                                       const PythonToolOptions& options = {});

}  // namespace agon::tools
