#include "agents/hub/gguf/key_reader.h"

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {

constexpr std::int64_t kMost = 1 << 24;  // far above any count of a real model

void GgufKeyReader::fail(const std::string& key, const std::string& what) const {
  throw Error("{}: the key {}: {}. Is this a model for llama.cpp that agon knows?", source_, key, what);
}

const Json* GgufKeyReader::find(const std::string& key) const {
  const auto found = file_.keys().find(key);
  return found == file_.keys().end() ? nullptr : &*found;
}

const Json& GgufKeyReader::at(const std::string& key) const {
  const Json* const value = find(key);
  if (!value) fail(key, "missing");
  return *value;
}

std::string GgufKeyReader::text(const std::string& key) const {
  const Json& value = at(key);
  if (!value.is_string()) fail(key, shown_text(to_text(value)) + " is not a text");
  return value.get<std::string>();
}

Json GgufKeyReader::list(const std::string& key) const {
  std::optional<Json> list = file_.list(key);
  if (!list) fail(key, find(key) ? "not a list" : "missing");
  return std::move(*list);
}

std::vector<std::string_view> GgufKeyReader::texts(const std::string& key) const {
  auto texts = file_.texts(key);
  if (!texts) fail(key, find(key) || file_.list(key) ? "not a list of texts" : "missing");
  return std::move(*texts);
}

std::int64_t GgufKeyReader::number(const std::string& key, std::int64_t least) const {
  const Json& value = at(key);
  const auto whole = whole_number<std::int64_t>(value, least, kMost);
  if (!whole) fail(key, fmt::format("{} is not a whole number from {} on", shown_text(to_text(value)), least));
  return *whole;
}

std::int64_t GgufKeyReader::number_or(const std::string& key, std::int64_t otherwise) const {
  return find(key) ? number(key) : otherwise;
}

std::optional<std::int64_t> GgufKeyReader::id(const std::string& key) const {
  const Json* const value = find(key);
  return value ? whole_number<std::int64_t>(*value, 0, 0x7ffffffe) : std::nullopt;
}

}  // namespace agon::agents
