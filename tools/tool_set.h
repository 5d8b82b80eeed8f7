// tools/tool_set.h - the tools of one episode: calls are checked, timed, retried, counted against the budget and
// recorded. Not thread-safe: one episode is one thread.
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

// One attempt of one call, as a run's store keeps it.
struct ToolRecord {
  std::string id, name;
  Json arguments;      // as the tool took them; as the policy wrote them where they were refused
  ToolResult result;   // with its error
  int call = 0;        // which call of the episode this is, from 0
  int attempt = 0;     // of the call, from 0
  double started = 0;  // Unix time, seconds
  double seconds = 0;  // that the attempt took
};

struct ToolSetOptions {
  int calls = 0;                                      // in all; 0: no limit
  std::map<std::string, int> calls_of;                // of one tool
  double seconds = 0;                                 // that all calls together may take, waits included; 0: no limit
  std::map<std::string, double> timeout_seconds;      // of a tool, in place of its own
  int attempts = 3;                                   // of an idempotent tool, while it is unavailable or times out
  double backoff_seconds = 0.5;                       // a wait is drawn from 0 to this, doubled each time (net/retry.h)
  std::uint64_t seed = 0;                             // of the waits
  std::function<void(const ToolRecord&)> on_attempt;  // called after each attempt and each refusal
};

class ToolSet {
 public:
  // Throws Error for an invalid schema, two tools of one name or tag, and options that name an unknown tool.
  ToolSet(std::vector<std::shared_ptr<Tool>> tools, ToolSetOptions options);

  const std::vector<ToolSpec>& specs() const { return specs_; }

  // Arguments may be an object, or a text that is one (OpenAI). Never throws for what a policy wrote. A result that
  // comes later than the tool's time counts as a timeout. Pictures of the result become pictures of the episode.
  ToolResult call(const ToolCall& call);

  // The pictures of the episode, oldest first; tools see them. Valid until the next call.
  const std::vector<Image>& pictures() const { return pictures_; }
  void add_picture(Image picture) { pictures_.push_back(std::move(picture)); }

  // The same pictures and what is left of the budget; from here on the two do not see each other. The fork reports to
  // `on_attempt`; without one, to that of the original. Throws Error where a tool cannot be forked.
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
