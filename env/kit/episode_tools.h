// env/kit/episode_tools.h - the tools of one episode as an env uses them: calls are recorded for StepFacts::tool_calls,
// and a broken tool ends the episode as failed. Copying forks the tools. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "core/message.h"
#include "env/step_facts.h"
#include "tools/tool_set.h"

namespace agon::env {

class EpisodeTools {
 public:
  EpisodeTools(std::vector<std::shared_ptr<tools::Tool>> tools, tools::ToolSetOptions options = {});
  // Forks: throws Error if a tool cannot be forked.
  EpisodeTools(const EpisodeTools& other);

  // Throws Error for failures that are not the policy's fault: an unavailable tool, a search missing from the
  // recording, a timeout of an idempotent tool.
  tools::ToolResult call(const ToolCall& call);
  std::vector<ToolAttempt> take_attempts();  // since the last take_attempts()

  const std::vector<tools::ToolSpec>& specs() const { return set_.specs(); }
  const std::vector<Image>& pictures() const { return set_.pictures(); }
  void add_picture(Image picture) { set_.add_picture(std::move(picture)); }

 private:
  std::shared_ptr<std::vector<ToolAttempt>> attempts_;  // not shared with forks; the set appends to it
  tools::ToolSet set_;
};

}  // namespace agon::env
