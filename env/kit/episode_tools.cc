#include "env/kit/episode_tools.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace agon::env {
namespace {

using tools::ToolFault;
using tools::ToolRecord;

using Attempts = std::vector<ToolAttempt>;

std::function<void(const ToolRecord&)> writer_to(const std::shared_ptr<Attempts>& attempts) {
  return [attempts](const ToolRecord& record) {
    // A policy may write invalid UTF-8.
    const std::string arguments = to_text(record.arguments);
    attempts->push_back({record.name, Json::parse(arguments),
                         record.result.error ? std::string(to_string(record.result.error->fault)) : "ok",
                         record.seconds, record.result.bytes});
  };
}

tools::ToolSetOptions recording(tools::ToolSetOptions options, const std::shared_ptr<Attempts>& attempts) {
  options.on_attempt = writer_to(attempts);
  return options;
}

}  // namespace

EpisodeTools::EpisodeTools(std::vector<std::shared_ptr<tools::Tool>> tools, tools::ToolSetOptions options)
    : attempts_(std::make_shared<Attempts>()), set_(std::move(tools), recording(std::move(options), attempts_)) {}

EpisodeTools::EpisodeTools(const EpisodeTools& other)
    : attempts_(std::make_shared<Attempts>(*other.attempts_)), set_(other.set_.fork(writer_to(attempts_))) {}

tools::ToolResult EpisodeTools::call(const ToolCall& call) {
  tools::ToolResult result = set_.call(call);
  if (!result.error) return result;
  const auto spec = std::find_if(specs().begin(), specs().end(), [&](const auto& s) { return s.name == call.name; });
  const ToolFault fault = result.error->fault;
  if (fault == ToolFault::unavailable || fault == ToolFault::offline_miss ||
      (fault == ToolFault::timeout && spec->idempotent))
    throw Error("{}: {}: {}", call.name, to_string(fault), result.error->message);
  return result;
}

std::vector<ToolAttempt> EpisodeTools::take_attempts() { return std::exchange(*attempts_, {}); }

}  // namespace agon::env
