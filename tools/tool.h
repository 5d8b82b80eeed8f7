// tools/tool.h - Tool, the interface of everything that an agent can call: it has a name and a schema of arguments, and
// returns text and pictures. A failed call returns an error value: a reason for programs and a text for the policy.
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
  bad_arguments,  // the arguments do not parse, or do not fit the schema
  unknown_tool,
  timeout,
  unavailable,   // a server or an interpreter is not available now, but may be later
  failed,        // the tool cannot do the work
  offline_miss,  // only replay is allowed, and there is no record of this call
  budget,        // the episode has no calls or no time left
};
std::string_view to_string(ToolFault fault);

struct ToolError {
  ToolFault fault = ToolFault::failed;
  std::string message;     // for the policy: what is wrong, with the values, and what to do next
  double retry_after = 0;  // seconds that a server asked to wait; 0: it did not ask
};

struct ToolResult {
  std::vector<Part> parts;
  std::optional<ToolError> error;
  std::int64_t bytes = 0;  // bytes received from outside: a server's reply, a program's output

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
  bool idempotent = false;  // repeating a call does no harm; only calls of idempotent tools are retried
};

// The part of the episode that a call can use.
struct ToolContext {
  std::span<const Image> pictures;  // of the episode so far; policies number them from 1
  double seconds = 30;              // the time that this call may take
};

// A stateless tool is thread-safe; a tool with state belongs to one episode.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolSpec& spec() const = 0;
  // REQUIRES: `arguments` fit the schema. Never throws because of the policy's text; pictures in the result are new
  // pictures of the episode. The tool itself keeps to the limit context.seconds.
  virtual ToolResult call(const Json& arguments, const ToolContext& context) = 0;
  // An independent copy; throws Error if the tool cannot be copied. Null: the tool has no state, and forks share it.
  virtual std::unique_ptr<Tool> fork() const { return nullptr; }
};

}  // namespace agon::tools
