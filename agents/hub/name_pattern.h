// agents/hub/name_pattern.h - a regular expression that whole names of modules match, as Python's re.fullmatch reads
// it; adapted from PCRE2. An expression may come from a file that means harm: a match that takes too long counts as
// none.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace agon::agents {

class NamePattern {
 public:
  // Throws Error with the place and the reason for a text that is no regular expression.
  explicit NamePattern(const std::string& text);
  bool matches(std::string_view name) const;

 private:
  std::shared_ptr<const void> code_;  // immutable, so copies share it
};

}  // namespace agon::agents
