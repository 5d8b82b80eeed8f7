// net/redaction.h - keeps a server's API key out of messages, records and the texts that policies read, in whatever
// form the server echoes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json_parse.h"

namespace agon::net {

class Redactor {
 public:
  // Empty: there is nothing to hide, and all texts stay unchanged.
  explicit Redactor(std::string key);

  const std::string& key() const { return key_; }
  // Whether it is long enough that other texts do not hold it by chance.
  bool is_rare() const { return key_.size() >= 8; }
  // The text with "<key>" in place of the key: as it is, percent-encoded (upper and lower case, a blank as '+'), with
  // JSON's escapes, HTML's entities, or in base64. Cut texts only after this: half a key would not be found.
  std::string redacted(std::string_view text) const;
  // The same in every text of a value, names of keys included.
  SortedJson redacted_json(const SortedJson& value) const;

 private:
  std::string key_;
  std::vector<std::string> forms_;
};

// The key that an environment variable holds; "" if no variable is named. Throws Error for a variable that is empty,
// has several lines, or holds other characters than printable ASCII; `who` begins its message and says whose key it is:
// "policy: the key of NAME".
std::string key_in_environment(const std::string& variable, const std::string& who);

}  // namespace agon::net
