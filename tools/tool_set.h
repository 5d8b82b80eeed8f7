// tools/tool_set.h - ToolSet, the tools of one episode: it checks, times, retries and records calls and counts them
// against the budget. Not thread-safe: each episode has one thread.
//   ToolSet tools({image, search}, {.calls = 5});
//   for (const ToolCall& call : tag_calls(turn, tools.specs())) show(tools.call(call));
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/message.h"
#include "core/rng.h"
#include "tools/json_schema.h"
#include "tools/tool.h"

namespace agon::tools {

// One attempt at one call, as a run stores it.
struct ToolRecord {
  std::string id, name;
  Json arguments;      // as the tool took them; if they were refused, as the policy wrote them
  ToolResult result;   // includes the error
  int call = 0;        // number of the call in the episode, from 0; a call refused for budget repeats the last number
                       // (-1: none)
  int attempt = 0;     // number of the attempt at the call, from 0
  double started = 0;  // Unix time in seconds
  double seconds = 0;  // duration of the attempt
};

struct ToolSetOptions {
  int calls = 0;                                      // limit on all calls; 0: no limit
  std::map<std::string, int> calls_of;                // limit on the calls of one tool, by name
  double seconds = 0;                                 // limit on the time of all calls, including waits; 0: no limit
  std::map<std::string, double> timeout_seconds;      // replaces a tool's own timeout, by name
  int attempts = 3;                                   // at a call, if an idempotent tool is unavailable or times out
  double backoff_seconds = 0.5;                       // a wait is drawn from 0 to this, doubled each time (net/retry.h)
  std::uint64_t seed = 0;                             // for the waits
  std::function<void(const ToolRecord&)> on_attempt;  // called after each attempt and each refusal
};

class ToolSet {
 public:
  // Throws Error for a schema that JsonSchema refuses, two tools with the same name or tag, and options that name an
  // unknown tool.
  ToolSet(std::vector<std::shared_ptr<Tool>> tools, ToolSetOptions options);

  const std::vector<ToolSpec>& specs() const { return specs_; }

  // Arguments may be an object, or (as in OpenAI's format) the text of one. Never throws because of the policy's text.
  // A result that comes after the tool's time limit counts as a timeout. Pictures of the result become pictures of the
  // episode.
  ToolResult call(const ToolCall& call);

  // The pictures of the episode, oldest first; tools see them. Valid until the next call.
  const std::vector<Image>& pictures() const { return pictures_; }
  void add_picture(Image picture) { pictures_.push_back(std::move(picture)); }

  // A copy with the same pictures and the same remaining budget; afterwards the two are independent. The fork reports
  // to `on_attempt`; if that is empty, to the original's. Throws Error if a tool cannot be forked.
  ToolSet fork(std::function<void(const ToolRecord&)> on_attempt = {}) const;

 private:
  ToolSet(const ToolSet&);
  std::size_t find(const std::string& name) const;  // tools_.size(): none
  ToolResult refuse(const ToolCall& call, ToolError error);
  std::optional<ToolError> over_budget(const std::string& name) const;
  double time_for(std::size_t tool) const;
  ToolResult attempt(std::size_t tool, const ToolCall& call, double seconds);
  ToolResult call_with_retries(std::size_t tool, const ToolCall& call);
  void record(const ToolCall& call, const ToolResult& result, int attempt, double started, double seconds) const;

  std::vector<std::shared_ptr<Tool>> tools_;
  std::vector<ToolSpec> specs_;
  std::vector<std::shared_ptr<const JsonSchema>> schemas_;
  ToolSetOptions options_;
  Rng rng_;
  std::vector<Image> pictures_;
  std::map<std::string, int> calls_of_;
  int calls_ = 0;
  double seconds_ = 0;
};

}  // namespace agon::tools
