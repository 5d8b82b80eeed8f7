#include "agents/config_reader.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "core/text.h"

namespace agon::agents {
namespace {

constexpr int kMostDepth = 32, kMostValues = 100'000;

// Numbers, true and false become JSON values; everything else is a string.
Json scalar_to_json(const YAML::Node& node) {
  const Json number = Json::parse(node.Scalar(), nullptr, false);
  return number.is_discarded() || node.Tag() == "!" ? Json(node.Scalar()) : number;
}

// Anchors may contain themselves or one another many times, so depth and number of values are limited.
Json to_json(const YAML::Node& node, int depth, int& values) {
  if (depth > kMostDepth) throw Error("nested more than {} deep; does an anchor hold itself?", kMostDepth);
  if (++values > kMostValues) throw Error("more than {} values", kMostValues);
  if (node.IsMap()) {
    Json map = Json::object();
    for (const auto& entry : node) {
      const auto key = entry.first.as<std::string>();
      if (map.contains(key)) throw Error("'{}' is given twice.", key);
      map[key] = to_json(entry.second, depth + 1, values);
    }
    return map;
  }
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const auto& entry : node) list.push_back(to_json(entry, depth + 1, values));
    return list;
  }
  return node.IsNull() ? Json() : scalar_to_json(node);
}

Json parse_yaml(const std::string& text) {
  const std::vector<YAML::Node> documents = YAML::LoadAll(text);
  if (documents.size() > 1)
    throw Error("{} YAML documents, separated by '---' lines. Write one, with all keys.", documents.size());
  int values = 0;
  return documents.empty() ? Json() : to_json(documents.front(), 0, values);
}

// Quotes a string that would otherwise be read back as another type.
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

// The value at a dotted key, created if missing; numbers are indices into lists ("sources.0.level").
Json& place_of(Json& root, const std::string& dotted) {
  Json* at = &root;
  for (const std::string& part : split(dotted, ".")) {
    const bool index = at->is_array() && !part.empty() && part.size() < 10 &&
                       part.find_first_not_of("0123456789") == std::string::npos;
    if (at->is_array() && (!index || std::stoul(part) >= at->size()))
      throw Error("--set {}: the list has {} entries, '{}' is not the number of one.", dotted, at->size(), part);
    if (!at->is_array() && !at->is_object() && !at->is_null())
      throw Error("--set {}: the value {} has no keys of its own.", dotted, at->dump());
    at = index ? &(*at)[std::stoul(part)] : &(*at)[part];
  }
  return *at;
}

}  // namespace

Json read_yaml(const std::filesystem::path& file) {
  const std::string text = read_file(file.string());
  try {
    return parse_yaml(text);
  } catch (const YAML::Exception& error) {
    throw Error("{}: not YAML: {}", file.string(), error.what());
  } catch (const Error& error) {
    throw Error("{}: {}", file.string(), error.what());
  }
}

Json parse_yaml_value(const std::string& text) {
  try {
    return parse_yaml(text);
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

void ConfigSection::read_threads(int& threads) {
  constexpr int kMost = 1024;
  read("threads", threads);
  if (threads < 0 || threads > kMost)
    throw Error("{}: 'threads' must lie between 0 and {}, got {}.", name_, kMost, threads);
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

void set_value(Json& config, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error("--set {}: expected KEY=VALUE, as optimizer.learning_rate=1e-5.", assignment);
  place_of(config, assignment.substr(0, equals)) = parse_yaml_value(assignment.substr(equals + 1));
}

}  // namespace agon::agents
