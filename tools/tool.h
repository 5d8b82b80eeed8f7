// tools/tool.h - what an agent can call: a name, a schema of arguments, and a result of text and pictures. What goes
// wrong in a call is a value with a reason that programs read and a text that the policy reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/message.h"
#include "core/pictures/image.h"

namespace agon::tools {

enum class ToolFault {
  bad_arguments,  // they do not parse, or do not fit the schema
  unknown_tool,
  timeout,
  unavailable,   // a server or an interpreter is not there now; it may be later
  failed,        // the work itself cannot be done
  offline_miss,  // replay alone is allowed, and nobody recorded this
  budget,        // no call, or no time, is left to this episode
};
std::string_view to_string(ToolFault fault);

struct ToolError {
  ToolFault fault = ToolFault::failed;
  std::string message;     // for the policy: what is wrong, with the values, and what to do next
  double retry_after = 0;  // seconds that a server asked to wait; 0: it said nothing
};

struct ToolResult {
  std::vector<Part> parts;
  std::optional<ToolError> error;
  std::int64_t bytes = 0;  // that came from outside: a server's reply, a program's output

  static ToolResult text(std::string text) { return {{Part::of(std::move(text))}, {}, 0}; }
  static ToolResult failure(ToolFault fault, std::string message) {
    return {{}, ToolError{fault, std::move(message)}, 0};
  }
};

struct ToolSpec {
  std::string name, description;
  Json schema;               // JSON schema (draft 4) of the arguments: an object with "properties"
  std::string tag;           // <tag>body</tag> in a turn calls the tool; empty: no tag does
  std::string tag_argument;  // the argument that the body fills
  double timeout_seconds = 30;
  bool idempotent = false;  // calling again with the same arguments does no harm: such calls alone are retried
};

// What a call may see and use of its episode.
struct ToolContext {
  std::span<const Image> pictures;  // of the episode so far; policies number them from 1
  double seconds = 30;              // the time that this call may take
};

// Thread-safe where it is stateless; a tool that holds state belongs to one episode.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolSpec& spec() const = 0;
  // `arguments` fit the schema. Never throws for what a policy wrote; pictures in the result are new pictures of the
  // episode. A tool keeps to context.seconds by itself.
  virtual ToolResult call(const Json& arguments, const ToolContext& context) = 0;
  // An independent copy; throws Error if the tool cannot be copied. Nothing: the tool holds no state, and forks share
  // it.
  virtual std::unique_ptr<Tool> fork() const { return nullptr; }
};

}  // namespace agon::tools
