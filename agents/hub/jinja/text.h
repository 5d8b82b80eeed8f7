// agents/hub/jinja/text.h - a string that records for each of its bytes whether it comes from the template or from
// outside. Every operation keeps the origins, so that a rendered prompt shows which parts a user wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::agents::jinja {

// kOwn: text of the template, and other trusted text. kGiven: text from outside. Callers may define higher numbers.
using Origin = std::uint32_t;
inline constexpr Origin kOwn = 0, kGiven = 1;

class Text {
 public:
  // The limits of one text; exceeding one throws Error.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20, kMostRuns = std::size_t{1} << 20;
  // Consecutive bytes of the same origin. `end` is one past the last.
  struct Run {
    std::size_t end = 0;
    Origin origin = kOwn;
    bool operator==(const Run&) const = default;
  };

  Text() = default;
  explicit Text(std::string_view bytes, Origin origin = kOwn) { append(bytes, origin); }

  std::string_view view() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  const std::vector<Run>& runs() const { return runs_; }  // in order; neighbours have different origins
  Origin origin_at(std::size_t byte) const;               // kOwn at the end

  void append(std::string_view bytes, Origin origin = kOwn);
  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, std::size_t begin, std::size_t end);  // its bytes [begin, end)
  Text slice(std::size_t begin, std::size_t end) const;

 private:
  std::string bytes_;
  std::vector<Run> runs_;
};

// Python's str.isspace().
bool is_space(std::int32_t code_point);
// The start of each character, then the size of the text. An invalid byte counts as a character.
std::vector<std::size_t> character_starts(std::string_view text);

// Python's string methods that several filters and methods share.
enum class Side { left, right, both };
// Strips white space, or the given characters, from the ends.
std::string_view strip(std::string_view text, Side side, std::optional<std::string_view> characters = std::nullopt);
Text strip(const Text& text, Side side, std::optional<std::string_view> characters = std::nullopt);
// Replaces at most `most` occurrences; < 0: all. An empty `from` matches before each character and at the end.
Text replace(const Text& text, std::string_view from, const Text& to, std::int64_t most = -1);
std::vector<Text> split_lines(const Text& text);
// Maps each character by `change`, which gets its code point and that of the previous one, or kNoCharacter.
inline constexpr std::int32_t kNoCharacter = -2;
Text change_characters(const Text& text, std::int32_t (*change)(std::int32_t character, std::int32_t before));
bool is_letter(std::int32_t code_point);  // a letter with a case

}  // namespace agon::agents::jinja
