#include "env/kit/episode_tools.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace agon::env {
namespace {

using tools::ToolFault;
using tools::ToolRecord;

std::function<void(const ToolRecord&)> writer_to(const std::shared_ptr<Json>& records) {
  return [records](const ToolRecord& record) {
    // What a policy wrote may be no UTF-8.
    const std::string arguments = record.arguments.dump(-1, ' ', false, Json::error_handler_t::replace);
    records->push_back({{"tool", record.name},
                        {"arguments", Json::parse(arguments)},
                        {"outcome", record.result.error ? to_string(record.result.error->fault) : "ok"},
                        {"seconds", record.seconds},
                        {"bytes", record.result.bytes}});
  };
}

tools::ToolSetOptions recording(tools::ToolSetOptions options, const std::shared_ptr<Json>& records) {
  options.on_attempt = writer_to(records);
  return options;
}

}  // namespace

EpisodeTools::EpisodeTools(std::vector<std::shared_ptr<tools::Tool>> tools, tools::ToolSetOptions options)
    : records_(std::make_shared<Json>(Json::array())),
      set_(std::move(tools), recording(std::move(options), records_)) {}

EpisodeTools::EpisodeTools(const EpisodeTools& other)
    : records_(std::make_shared<Json>(*other.records_)), set_(other.set_.fork(writer_to(records_))) {}

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

Json EpisodeTools::take_records() { return std::exchange(*records_, Json::array()); }

}  // namespace agon::env
