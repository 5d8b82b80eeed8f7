#include "agents/learn/config_reader.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "core/text.h"

namespace agon::agents {
namespace {

Json to_json(const YAML::Node& node) {
  if (node.IsMap()) {
    Json map = Json::object();
    for (const auto& entry : node) map[entry.first.as<std::string>()] = to_json(entry.second);
    return map;
  }
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const auto& entry : node) list.push_back(to_json(entry));
    return list;
  }
  if (node.IsNull()) return nullptr;
  const Json number =
      Json::parse(node.Scalar(), nullptr, false);  // numbers and true / false read as JSON; the rest is a string
  return number.is_discarded() || node.Tag() == "!" ? Json(node.Scalar()) : number;
}

// A string that would read back as something else is quoted.
void write_scalar(YAML::Emitter& out, const Json& json) {
  if (json.is_null()) {
    out << YAML::Null;
    return;
  }
  if (json.is_boolean()) {
    out << json.get<bool>();
    return;
  }
  if (json.is_number()) {
    out << json.dump();
    return;
  }
  const auto text = json.get<std::string>();
  const bool plain = !text.empty() && Json::parse(text, nullptr, false).is_discarded() && text != "~";
  out << (plain ? YAML::Auto : YAML::DoubleQuoted) << text;
}

void write(YAML::Emitter& out, const Json& json) {
  if (json.is_object()) {
    if (json.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, value] : json.items()) {
      out << YAML::Key << key << YAML::Value;
      write(out, value);
    }
    out << YAML::EndMap;
  } else if (json.is_array()) {
    if (std::none_of(json.begin(), json.end(), [](const Json& item) { return item.is_structured(); }))
      out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const Json& item : json) write(out, item);
    out << YAML::EndSeq;
  } else {
    write_scalar(out, json);
  }
}

}  // namespace

Json read_yaml(const std::filesystem::path& file) {
  try {
    return to_json(YAML::Load(read_file(file.string())));
  } catch (const YAML::Exception& error) {
    throw Error("{}: not YAML: {}", file.string(), error.what());
  }
}

Json parse_yaml_value(const std::string& text) {
  try {
    return to_json(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    throw Error("'{}' is not a YAML value: {}", text, error.what());
  }
}

std::string to_yaml(const Json& json) {
  YAML::Emitter out;
  write(out, json);
  return std::string(out.c_str()) + "\n";
}

ConfigSection::ConfigSection(const Json& json, std::string name) : json_(json), name_(std::move(name)) {
  if (!json.is_object()) throw Error("{}: expected keys and values, got {}", name_, json.dump().substr(0, 80));
}

const Json* ConfigSection::child(const char* key) {
  known_.emplace_back(key);
  return json_.contains(key) ? &json_.at(key) : nullptr;
}

void ConfigSection::check() const {
  for (const auto& [key, value] : json_.items())
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      throw Error("{}", unknown_name_message(name_ + ": key", key, known_));
}

}  // namespace agon::agents
