// The validator is RapidJSON's. No other file depends on it.
#include "tools/json_schema.h"

#include <rapidjson/document.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::tools {
namespace {

rapidjson::Document document_of(const Json& json) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(to_text(json).c_str());
  return document;
}

std::string text_of(const rapidjson::Pointer& pointer) {
  rapidjson::StringBuffer buffer;
  pointer.Stringify(buffer);
  return {buffer.GetString(), buffer.GetSize()};
}

constexpr std::string_view kWhole = "the arguments";

// Turns "/shapes/0/box" into "shapes[0].box", and the root into kWhole.
std::string place_of(const std::string& pointer) {
  std::string place;
  for (const std::string& name : split(pointer, "/")) {
    const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    if (name.empty()) continue;
    place += number ? "[" + name + "]" : (place.empty() ? "" : ".") + name;
  }
  return place.empty() ? std::string(kWhole) : place;
}

std::string key_list(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, ignored] : object.items()) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string missing_keys(const Json& value, const Json& required) {
  std::vector<std::string> missing;
  for (const Json& name : required)
    if (!value.contains(name.get<std::string>())) missing.push_back(name);
  return fmt::format("{}", fmt::join(missing, ", "));
}

// The end of a sentence: the key that the schema does not allow, and the nearest key that it does.
std::string unknown_key(const Json& value, const Json& schema) {
  const Json known = schema.value("properties", Json::object());
  std::vector<std::string> names;
  for (const auto& [name, ignored] : known.items()) names.push_back(name);
  for (const auto& [name, ignored] : value.items()) {
    if (known.contains(name)) continue;
    const auto meant = nearest_name(name, names);
    return fmt::format("{}{}", shown_text(name), meant ? fmt::format(". Did you mean {}?", *meant) : ".");
  }
  return "one of its keys.";
}

// keyword: the keyword of `schema` that `value` at `place` violates.
std::string message_of(const std::string& place, const Json& value, const std::string& keyword, const Json& schema) {
  const Json wanted = schema.value(keyword, Json());
  if (keyword == "required") return fmt::format("{} must have {}.", place, missing_keys(value, wanted));
  if (keyword == "additionalProperties")
    return fmt::format("{} may have {}, not {}", place, key_list(schema.value("properties", Json::object())),
                       unknown_key(value, schema));
  const std::string is = fmt::format("{} {} {}", place, place == kWhole ? "are" : "is", shown(value));
  if (keyword == "enum" || keyword == "type") {
    const std::string_view what = keyword == "enum" ? "it must be one of" : "its type must be";
    return fmt::format("{}, but {} {}.", is, what, to_text(wanted));
  }
  return fmt::format("{}, but the schema wants {} {}.", is, keyword, shown(wanted));
}

// The JSON pointer to an integer above the range of int64; nothing if there is none. The validator would accept such an
// integer, but the tool that reads it would get another number.
std::optional<std::string> beyond_int64(const Json& value) {
  if (value.is_number_unsigned() && !whole_number<std::int64_t>(value, 0, std::numeric_limits<std::int64_t>::max()))
    return "";
  if (!value.is_structured()) return std::nullopt;
  for (const auto& [key, item] : value.items())
    if (const auto place = beyond_int64(item)) return fmt::format("/{}{}", key, *place);
  return std::nullopt;
}

}  // namespace

struct JsonSchema::Compiled {
  explicit Compiled(const Json& text) : source(text), document(document_of(text)), schema(document) {}
  Json source;
  rapidjson::Document document;
  rapidjson::SchemaDocument schema;
};

JsonSchema::JsonSchema(const std::string& name, const Json& schema) {
  if (!schema.is_object() || schema.value("type", Json()) != "object" ||
      !schema.value("properties", Json()).is_object())
    throw Error("{}: the schema of its arguments is {}; it must be of \"type\": \"object\" with \"properties\".", name,
                shown(schema));
  compiled_ = std::make_unique<Compiled>(schema);
}

JsonSchema::~JsonSchema() = default;
JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;

std::string JsonSchema::fault(const Json& value) const {
  if (const auto place = beyond_int64(value))
    return fmt::format("{} is above {}, the largest whole number.", place_of(*place),
                       std::numeric_limits<std::int64_t>::max());
  const rapidjson::Document document = document_of(value);
  rapidjson::SchemaValidator validator(compiled_->schema);
  if (document.Accept(validator)) return {};
  std::string place = text_of(validator.GetInvalidDocumentPointer());
  const std::string schema_place = text_of(validator.GetInvalidSchemaPointer());
  const std::string keyword = validator.GetInvalidSchemaKeyword();
  if (keyword == "additionalProperties") place.erase(place.rfind('/'));  // the last part is the forbidden key
  const Json& at = value.at(Json::json_pointer(place));
  const Json& schema = compiled_->source.at(Json::json_pointer(schema_place));
  return message_of(place_of(place), at, keyword, schema);
}

}  // namespace agon::tools
