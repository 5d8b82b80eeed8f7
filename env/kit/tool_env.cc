#include "env/kit/tool_env.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "env/kit/suite_task.h"
#include "env/protocol.h"
#include "tools/tool_format.h"

namespace agon::env {
namespace {

std::size_t place_of(const std::optional<Span>& span) { return span ? span->begin : std::string_view::npos; }

std::string without_tags(const std::string& text) {
  return replace_all(text, std::vector<std::string>{"<think>", "</think>"}, "");
}

}  // namespace

void ToolEnv::start(TaskInfo task, std::vector<std::shared_ptr<tools::Tool>> tools, int max_turns) {
  task_ = std::move(task);
  state_ = State::open;
  turns_ = 0;
  max_turns_ = max_turns;
  tools_.emplace(std::move(tools));
}

StepResult ToolEnv::step(const Action& action) {
  if (state_ == State::idle) return refused_step("There is no task yet: reset first.");
  if (state_ == State::ended) return refused_step("The task has ended: reset to start another.");
  ++turns_;
  StepResult result = act(action);
  result.tool_calls = tools_->take_attempts();
  result.truncated = !result.terminated && turns_left() == 0;
  if (!result.terminated) result.reward.components = {{"accuracy", 0.0}};
  if (result.terminated || result.truncated) state_ = State::ended;
  if (result.truncated) result.success = false;
  return result;
}

Move move_of(const Action& action, const std::vector<tools::ToolSpec>& tools) {
  Move move;
  if (!action.tool_calls.empty()) {
    move.call = action.tool_calls.front();
    return move;
  }
  const std::string& text = action.text;
  const std::size_t problem = place_of(first_tag(text, Tag::problem));
  const auto tagged = first_tag(text, Tag::answer);
  const std::size_t answer = place_of(tagged ? tagged : last_boxed(text));
  const std::size_t call = std::min(place_of(first_tag(text, Tag::search)), place_of(first_tag(text, Tag::code)));
  const std::size_t first = std::min({problem, answer, call});
  if (first == text.npos) return move;
  if (first == answer) {
    move.answer = extract_answer(text);
  } else if (first == problem) {
    move.problem = first_tag(text, Tag::problem)->of(text);
  } else if (auto calls = tools::tag_calls(text, tools); !calls.empty()) {
    move.call = std::move(calls.front());
  }
  return move;
}

StepQuery without_think_tags(const StepQuery& query) {
  return {without_tags(query.before), std::string(trim(without_tags(query.step)))};
}

std::string with_think_tags_of(std::string_view step, std::string bare) {
  for (const Tag tag : {Tag::answer, Tag::search, Tag::code, Tag::problem})
    if (first_tag(bare, tag)) return bare;
  const std::string open = "<think>", close = "</think>";
  if (trim(step).starts_with(open)) bare = open + bare;
  return trim(step).ends_with(close) ? bare + close : bare;
}

std::string information(const std::string& documents) { return "<information>\n" + documents + "</information>"; }

std::string thought(const std::string& thought, const std::string& rest) {
  return wrap(Tag::think, thought) + "\n\n" + rest;
}

}  // namespace agon::env
