#include "net/redaction.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/base64.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::net {
namespace {

// Everything but letters and digits as %xx, as some libraries encode; `safe` stays as it is.
std::string percent_encoded(std::string_view text, std::string_view safe, bool upper) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || safe.find(c) != std::string_view::npos)
      encoded += c;
    else
      encoded += upper ? fmt::format("%{:02X}", byte) : fmt::format("%{:02x}", byte);
  }
  return encoded;
}

std::string as_json(const std::string& text) {
  const std::string quoted = to_ascii(SortedJson(text));
  return quoted.substr(1, quoted.size() - 2);
}

std::string as_html(std::string_view text, std::string_view apostrophe) {
  std::string escaped = replace_all(text, "&", "&amp;");
  escaped = replace_all(replace_all(escaped, "<", "&lt;"), ">", "&gt;");
  return replace_all(replace_all(escaped, "\"", "&quot;"), "'", apostrophe);
}

// Without '=', which some encoders leave out.
std::string unpadded_base64(std::string_view text) {
  const std::string encoded = base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return encoded.substr(0, encoded.find('='));
}

std::vector<std::string> forms_of(const std::string& key) {
  if (key.empty()) return {};
  std::set<std::string> forms{key, as_json(key), replace_all(key, "/", "\\/"), as_html(key, "&#39;"),
                              as_html(key, "&#x27;")};
  for (const std::string_view safe : {"-._~", "-._~/", "-_.!~*'()", ""})
    for (const bool upper : {true, false}) forms.insert(percent_encoded(key, safe, upper));
  if (key.size() >= 8) forms.insert(unpadded_base64(key));
  for (const std::string& form : std::set<std::string>(forms)) forms.insert(as_json(form));  // in a JSON text
  return {forms.begin(), forms.end()};
}

}  // namespace

Redactor::Redactor(std::string key) : key_(std::move(key)), forms_(forms_of(key_)) {}

std::string Redactor::redacted(std::string_view text) const { return replace_all(text, forms_, "<key>"); }

SortedJson Redactor::redacted_json(const SortedJson& value) const {
  if (forms_.empty()) return value;
  if (value.is_string()) return redacted(value.get_ref<const std::string&>());
  if (value.is_array()) {
    SortedJson list = SortedJson::array();
    for (const SortedJson& item : value) list.push_back(redacted_json(item));
    return list;
  }
  if (!value.is_object()) return value;
  SortedJson object = SortedJson::object();
  for (const auto& [name, item] : value.items()) object[redacted(name)] = redacted_json(item);
  return object;
}

std::string key_in_environment(const std::string& variable, const std::string& who) {
  if (variable.empty()) return "";
  const char* const key = std::getenv(variable.c_str());
  if (key == nullptr || *key == '\0')
    throw Error("{} should stand in the environment variable {}, which is empty.", who, variable);
  const std::string text(trim(key));
  if (text.find_first_of("\r\n") != std::string::npos)
    throw Error("{} in the environment variable {} has several lines.", who, variable);
  // A server may read the bytes of a header in another encoding; its quotation would not be recognised as the key.
  if (std::any_of(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }))
    throw Error("{} in the environment variable {} has a character beyond printable ASCII. Is it the whole key?", who,
                variable);
  return text;
}

}  // namespace agon::net
