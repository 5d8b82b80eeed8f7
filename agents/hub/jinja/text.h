// agents/hub/jinja/text.h - a string that knows where each of its bytes comes from: from the template or from outside.
// Every operation keeps the origins, so that a rendered prompt still says which part of it a user wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::agents::jinja {

// kOwn: the template's text and what is trusted like it. kGiven: text from outside. Higher numbers are the caller's.
using Origin = std::uint32_t;
inline constexpr Origin kOwn = 0, kGiven = 1;

class Text {
 public:
  // The limit of one text. A longer one throws Error.
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20, kMostRuns = std::size_t{1} << 20;
  // Bytes of one origin that stand together. `end` is the byte after the last.
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
  const std::vector<Run>& runs() const { return runs_; }  // in order, neighbours differ in origin
  Origin origin_at(std::size_t byte) const;               // kOwn at the end

  void append(std::string_view bytes, Origin origin = kOwn);
  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, std::size_t begin, std::size_t end);  // its bytes [begin, end)
  Text slice(std::size_t begin, std::size_t end) const;

 private:
  std::string bytes_;
  std::vector<Run> runs_;
};

// What str.isspace() of Python calls white space.
bool is_space(std::int32_t code_point);
// Where each character begins, and the size of the text at the end. A byte that forms no character counts as one.
std::vector<std::size_t> character_starts(std::string_view text);

// The string methods of Python on which several filters and methods stand.
enum class Side { left, right, both };
// Without white space at its ends, or without any of the given characters.
std::string_view strip(std::string_view text, Side side, std::optional<std::string_view> characters = std::nullopt);
Text strip(const Text& text, Side side, std::optional<std::string_view> characters = std::nullopt);
// `most` < 0: every occurrence. An empty `from` stands before each character and at the end.
Text replace(const Text& text, std::string_view from, const Text& to, std::int64_t most = -1);
std::vector<Text> split_lines(const Text& text);
// Each character through `change`, which gets its code point and that of the one before, or kNoCharacter.
inline constexpr std::int32_t kNoCharacter = -2;
Text change_characters(const Text& text, std::int32_t (*change)(std::int32_t character, std::int32_t before));
bool is_letter(std::int32_t code_point);  // with a case

}  // namespace agon::agents::jinja
