#include "tools/tool_set.h"

#include <algorithm>
#include <chrono>
#include <variant>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "net/retry.h"

namespace agon::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostArgumentBytes = 1 << 20;
constexpr std::size_t kMostKeys = 1000;  // of one object: filling one of core/json.h takes quadratic time

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

ToolError bad_arguments(std::string message) { return {ToolFault::bad_arguments, std::move(message)}; }

bool has_wide_object(const SortedJson& value) {
  if (value.is_object() && value.size() > kMostKeys) return true;
  return value.is_structured() && std::any_of(value.begin(), value.end(), has_wide_object);
}

// The arguments of a call as an object. An empty text counts as no arguments, because some models write it so.
std::variant<Json, ToolError> read_arguments(const Json& arguments) {
  if (arguments.is_null()) return Json::object();
  if (!arguments.is_string()) return arguments;
  const std::string& text = arguments.get_ref<const std::string&>();
  if (trim(text).empty()) return Json::object();
  if (text.size() > kMostArgumentBytes)
    return bad_arguments(fmt::format("The arguments are {} bytes long (at most {}).", text.size(), kMostArgumentBytes));
  ParsedJson parsed = parse_json(text);
  if (!parsed.fault.empty())
    return bad_arguments(fmt::format("The arguments {} are {}", shown_text(text), parsed.fault));
  if (has_wide_object(parsed.value))
    return bad_arguments(fmt::format("An object of the arguments has more than {} keys.", kMostKeys));
  return Json(std::move(parsed.value));
}

std::vector<std::string> names_of(const std::vector<ToolSpec>& specs) {
  std::vector<std::string> names;
  for (const ToolSpec& spec : specs) names.push_back(spec.name);
  return names;
}

void check_distinct(const std::vector<ToolSpec>& specs) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name.empty()) throw Error("tools: tool {} has no name.", i);
    if (!specs[i].tag.empty() && !specs[i].schema["properties"].contains(specs[i].tag_argument))
      throw Error("tools: <{}> fills '{}', but '{}' has no such argument.", specs[i].tag, specs[i].tag_argument,
                  specs[i].name);
    for (std::size_t j = 0; j < i; ++j)
      if (specs[j].name == specs[i].name || (!specs[i].tag.empty() && specs[j].tag == specs[i].tag))
        throw Error("tools: two tools are called '{}' or by the tag '{}'. Leave one out.", specs[i].name, specs[i].tag);
  }
}

bool is_worth_another_try(const std::optional<ToolError>& error) {
  return error && (error->fault == ToolFault::unavailable || error->fault == ToolFault::timeout);
}

template <typename Value>
void check_names(const std::map<std::string, Value>& options, const std::vector<std::string>& names) {
  for (const auto& [name, ignored] : options)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error("{}", unknown_name_message("tools", name, names));
}

}  // namespace

ToolSet::ToolSet(std::vector<std::shared_ptr<Tool>> tools, ToolSetOptions options)
    : tools_(std::move(tools)), options_(std::move(options)), rng_(Rng::derive(options_.seed, "tool waits")) {
  for (const auto& tool : tools_) {
    specs_.push_back(tool->spec());
    schemas_.push_back(std::make_shared<JsonSchema>(specs_.back().name, specs_.back().schema));
  }
  check_distinct(specs_);
  check_names(options_.calls_of, names_of(specs_));
  check_names(options_.timeout_seconds, names_of(specs_));
}

ToolSet::ToolSet(const ToolSet&) = default;

ToolSet ToolSet::fork(std::function<void(const ToolRecord&)> on_attempt) const {
  ToolSet copy(*this);
  if (on_attempt) copy.options_.on_attempt = std::move(on_attempt);
  for (auto& tool : copy.tools_)
    if (auto own = tool->fork()) tool = std::move(own);
  return copy;
}

ToolResult ToolSet::call(const ToolCall& call) {
  if (auto error = over_budget(call.name)) return refuse(call, std::move(*error));
  ++calls_;
  ++calls_of_[call.name];
  const std::size_t tool = find(call.name);
  if (tool == tools_.size())
    return refuse(call,
                  {ToolFault::unknown_tool, unknown_name_message("tools", cut_text(call.name, 40), names_of(specs_))});
  auto arguments = read_arguments(call.arguments);
  if (auto* error = std::get_if<ToolError>(&arguments)) return refuse(call, std::move(*error));
  const ToolCall checked{call.id, call.name, std::get<Json>(std::move(arguments))};
  if (std::string fault = schemas_[tool]->fault(checked.arguments); !fault.empty())
    return refuse(checked, bad_arguments(std::move(fault)));
  return call_with_retries(tool, checked);
}

std::size_t ToolSet::find(const std::string& name) const {
  const auto at = std::find_if(specs_.begin(), specs_.end(), [&](const ToolSpec& spec) { return spec.name == name; });
  return static_cast<std::size_t>(at - specs_.begin());
}

ToolResult ToolSet::refuse(const ToolCall& call, ToolError error) {
  ToolResult result{{}, std::move(error), 0};
  record(call, result, 0, unix_seconds(), 0);
  return result;
}

std::optional<ToolError> ToolSet::over_budget(const std::string& name) const {
  const auto spent = [](std::string what) { return ToolError{ToolFault::budget, std::move(what)}; };
  if (options_.calls > 0 && calls_ >= options_.calls)
    return spent(fmt::format("All {} tool calls are used up. Answer with what you know.", options_.calls));
  const auto limit = options_.calls_of.find(name);
  const auto made = calls_of_.find(name);
  if (limit != options_.calls_of.end() && (made == calls_of_.end() ? 0 : made->second) >= limit->second)
    return spent(fmt::format("All {} calls of {} are used up. Go on without it.", limit->second, name));
  if (options_.seconds > 0 && seconds_ >= options_.seconds)
    return spent(fmt::format("The {} s for tool calls are used up. Answer with what you know.", options_.seconds));
  return {};
}

double ToolSet::time_for(std::size_t tool) const {
  const auto own = options_.timeout_seconds.find(specs_[tool].name);
  const double seconds = own == options_.timeout_seconds.end() ? specs_[tool].timeout_seconds : own->second;
  return options_.seconds > 0 ? std::min(seconds, options_.seconds - seconds_) : seconds;
}

ToolResult ToolSet::attempt(std::size_t tool, const ToolCall& call, double seconds) {
  const auto start = Clock::now();
  ToolResult result = tools_[tool]->call(call.arguments, {pictures_, seconds});
  if (seconds_since(start) > seconds && !(result.error && result.error->fault == ToolFault::timeout))
    result = {{},
              ToolError{ToolFault::timeout, fmt::format("{} took longer than {:.3g} s.", call.name, seconds)},
              result.bytes};
  return result;
}

ToolResult ToolSet::call_with_retries(std::size_t tool, const ToolCall& call) {
  const int attempts = specs_[tool].idempotent ? options_.attempts : 1;
  net::Retries retries({attempts, options_.backoff_seconds, time_for(tool)}, rng_);
  ToolResult result;
  do {
    const double started = unix_seconds(), before = retries.seconds();
    result = attempt(tool, call, retries.seconds_left());
    record(call, result, retries.attempt(), started, retries.seconds() - before);
  } while (is_worth_another_try(result.error) && retries.wait(result.error->retry_after));
  seconds_ += retries.seconds();
  for (const Part& part : result.parts)
    if (part.is_image()) pictures_.push_back(part.image);
  return result;
}

void ToolSet::record(const ToolCall& call, const ToolResult& result, int attempt, double started,
                     double seconds) const {
  if (!options_.on_attempt) return;
  options_.on_attempt({call.id, call.name, call.arguments, result, calls_ - 1, attempt, started, seconds});
}

}  // namespace agon::tools
