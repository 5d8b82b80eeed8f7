#include "agents/remote/endpoint.h"

#include <algorithm>
#include <filesystem>

#include "agents/config_reader.h"
#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "net/url.h"

namespace agon::agents {
namespace {

const std::map<std::string, Continuing> kWays = {
    {"probe", Continuing::probe},     {"continue_final_message", Continuing::message},
    {"prefill", Continuing::prefill}, {"completions", Continuing::completions},
    {"none", Continuing::none},       {"chat_template", Continuing::chat_template}};

bool is_address(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

template <typename Value>
Value named(const ConfigSection& section, const char* key, const std::string& name,
            const std::map<std::string, Value>& values) {
  if (const auto found = values.find(name); found != values.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, value] : values) names.push_back(known);
  throw Error("{}: '{}': {}", section.name(), key, unknown_name_message("value", name, names));
}

// Sets url and model from "http://host/v1#model".
void set_address(Endpoint& endpoint, std::string_view text) {
  const std::size_t mark = text.find('#');
  if (mark != std::string_view::npos) endpoint.model = text.substr(mark + 1);
  text = text.substr(0, mark);
  while (text.ends_with('/')) text.remove_suffix(1);
  for (const std::string_view path : {"/chat/completions", "/completions", "/models"})
    if (text.ends_with(path)) text.remove_suffix(path.size());  // the address of a request, copied whole
  if (text.find('?') != std::string_view::npos || text.find('@') != std::string_view::npos)
    throw Error(
        "policy: '{}' holds a name or a query. Put the key into the environment and name its variable: key_env "
        "in a YAML file.",
        net::public_url(text));
  if (!is_address(text) || text.substr(text.find("://") + 3).empty())
    throw Error("policy: '{}' is not an address. Write http://host:8000/v1 or https://...", text);
  endpoint.url = text;
}

void read_price(ConfigSection& section, Endpoint& endpoint) {
  const Json* const given = section.child("price");
  if (given == nullptr) return;
  ConfigSection price(*given, section.name() + ": price");
  endpoint.price.emplace();
  price.read("input", endpoint.price->input);
  price.read("output", endpoint.price->output);
  price.check();
  if (endpoint.price->input < 0 || endpoint.price->output < 0)
    throw Error("{}: 'price' is below 0. Give US dollars a million tokens.", section.name());
}

void read_headers(ConfigSection& section, Endpoint& endpoint) {
  const Json* const given = section.child("headers");
  if (given == nullptr) return;
  for (const auto& [name, value] : given->items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (name.find_first_of(": \r\n") != std::string::npos || text.find_first_of("\r\n") != std::string::npos)
      throw Error("{}: 'headers' has the entry {}, which is not a header.", section.name(), shown_text(name));
    if (to_lower(name) == "authorization")
      throw Error("{}: a key does not belong into a file. Put it into the environment and name its variable: key_env.",
                  section.name());
    endpoint.headers[name] = text;
  }
}

void check(const ConfigSection& section, const Endpoint& endpoint) {
  if (endpoint.max_in_flight < 1 || endpoint.max_in_flight > 10'000)
    throw Error("{}: 'max_in_flight' must be from 1 to 10000, got {}.", section.name(), endpoint.max_in_flight);
  if (!(endpoint.timeout > 0))
    throw Error("{}: 'timeout' must be a number of seconds above 0, got {}.", section.name(), endpoint.timeout);
  if (endpoint.context < 0)
    throw Error("{}: 'context' must be a number of tokens, got {}.", section.name(), endpoint.context);
  if (needs_template(endpoint.continuing) && endpoint.tokenizer.empty())
    throw Error("{}: 'continue' is {}, which needs the model's chat template. Name its folder: tokenizer: DIR.",
                section.name(), to_string(endpoint.continuing));
  if (!endpoint.extra_body.is_object())
    throw Error("{}: 'extra_body' must be a mapping of keys to values.", section.name());
  for (const char* key : {"messages", "model", "n", "stream", "max_tokens", "temperature", "top_p", "seed", "stop"})
    if (endpoint.extra_body.contains(key))
      throw Error("{}: 'extra_body' sets '{}', which agon sets itself.", section.name(), key);
}

Endpoint read_file_of(const std::string& file) {
  const Json json = read_yaml(file);
  ConfigSection section(json, "policy: " + file);
  Endpoint endpoint;
  std::string url, model, images = "data_url", reasoning = "drop", continuing = "probe", cache = "record";
  section.read("url", url);
  if (url.empty()) throw Error("policy: {}: 'url' is missing: the address of a server, http://host:8000/v1.", file);
  set_address(endpoint, url);
  section.read("model", model);
  if (!model.empty()) endpoint.model = model;
  section.read("key_env", endpoint.key_env);
  section.read("max_in_flight", endpoint.max_in_flight);
  section.read("timeout", endpoint.timeout);
  section.read("context", endpoint.context);
  section.read("images", images);
  section.read("reasoning", reasoning);
  section.read("continue", continuing);
  section.read("cache", cache);
  section.read("tokenizer", endpoint.tokenizer);
  if (!endpoint.tokenizer.empty())
    endpoint.tokenizer = (std::filesystem::path(file).parent_path() / endpoint.tokenizer).lexically_normal().string();
  endpoint.cache = parse_cache_use(cache);
  endpoint.images = named<PictureForm>(section, "images", images,
                                       {{"data_url", PictureForm::data_url}, {"file_url", PictureForm::file_url}});
  endpoint.keep_reasoning = named<bool>(section, "reasoning", reasoning, {{"keep", true}, {"drop", false}});
  endpoint.continuing = named<Continuing>(section, "continue", continuing, kWays);
  if (const Json* const extra = section.child("extra_body")) endpoint.extra_body = *extra;
  read_headers(section, endpoint);
  read_price(section, endpoint);
  section.check();
  check(section, endpoint);
  return endpoint;
}

}  // namespace

CacheUse parse_cache_use(const std::string& name) {
  if (name == "off") return CacheUse::off;
  if (name == "record") return CacheUse::record;
  if (name == "replay") return CacheUse::replay;
  throw Error("policy: {}", unknown_name_message("use of the cache", name, {"off", "record", "replay"}));
}

bool names_endpoint(std::string_view text) {
  return text.find("://") != std::string_view::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

Endpoint read_endpoint(const std::string& text) {
  if (text.find("://") == std::string::npos) return read_file_of(text);
  Endpoint endpoint;
  set_address(endpoint, text);
  return endpoint;
}

std::string_view to_string(Continuing way) {
  return std::find_if(kWays.begin(), kWays.end(), [&](const auto& one) { return one.second == way; })->first;
}
bool needs_template(Continuing way) { return way == Continuing::completions || way == Continuing::chat_template; }

std::string Endpoint::name() const { return model.empty() ? url : model; }
std::string Endpoint::address() const { return model.empty() ? url : url + "#" + model; }

Json to_json(const Endpoint& endpoint) {
  Json json{{"url", endpoint.url}, {"model", endpoint.model}};
  if (!endpoint.headers.empty()) {
    json["headers"] = Json::array();
    for (const auto& [name, value] : endpoint.headers) json["headers"].push_back(name);
  }
  if (!endpoint.extra_body.empty()) json["extra_body"] = endpoint.extra_body;
  if (endpoint.keep_reasoning) json["reasoning"] = "keep";
  if (!endpoint.tokenizer.empty()) json["tokenizer"] = endpoint.tokenizer;
  if (endpoint.price) json["price"] = {{"input", endpoint.price->input}, {"output", endpoint.price->output}};
  return json;
}

}  // namespace agon::agents
