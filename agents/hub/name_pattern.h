// agents/hub/name_pattern.h - a regular expression for whole module names, with the meaning of Python's re.fullmatch;
// implemented with PCRE2. The expression may come from a malicious file, so a match that takes too long counts as no
// match.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace agon::agents {

class NamePattern {
 public:
  // Throws Error with the place and the reason for a text that is not a regular expression.
  explicit NamePattern(const std::string& text);
  bool matches(std::string_view name) const;

 private:
  std::shared_ptr<const void> code_;  // immutable, so copies share it
};

}  // namespace agon::agents
