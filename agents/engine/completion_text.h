// agents/engine/completion_text.h - collects the text of a completion token by token and finds the first stop string in
// it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agon::agents {

class CompletionText {
 public:
  CompletionText() = default;  // no stop strings
  // REQUIRES: no stop string is empty. They must outlive this object.
  explicit CompletionText(const std::vector<std::string>& stops) : stops_(stops) {}
  // Adds a token's bytes (tokens may end inside a character). Returns true when a stop string is complete: the text
  // then ends with the first complete match (the longest that ends there), and the rest of the token is dropped.
  bool append(std::string_view token_bytes);
  const std::string& matched_stop() const { return matched_; }
  std::string text() const;  // valid UTF-8: invalid bytes become U+FFFD
  // The end of each appended token in text(), in order. A character belongs to the token that ends it.
  std::vector<std::size_t> token_ends() const;

 private:
  std::span<const std::string> stops_;
  struct Spelled {
    std::string text;
    std::vector<std::size_t> token_ends;
  };
  Spelled spell() const;

  std::string bytes_, matched_;
  std::vector<std::size_t> ends_;  // of each token in bytes_
};

}  // namespace agon::agents
