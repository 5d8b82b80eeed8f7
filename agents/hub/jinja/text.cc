#include "agents/hub/jinja/text.h"

#include <utf8proc.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace agon::agents::jinja {
namespace {

bool ends_line(std::int32_t code_point) {
  return (code_point >= 0x0A && code_point <= 0x0D) || (code_point >= 0x1C && code_point <= 0x1E) ||
         code_point == 0x85 || code_point == 0x2028 || code_point == 0x2029;
}

// The start of the first character that is not stripped.
template <typename IsStripped>
std::size_t stripped_begin(std::string_view text, IsStripped is_stripped) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const Character character = first_character(text.substr(begin));
    if (!is_stripped(character.code_point, text.substr(begin, character.bytes))) break;
    begin += character.bytes;
  }
  return begin;
}

template <typename IsStripped>
std::size_t stripped_end(std::string_view text, std::size_t begin, IsStripped is_stripped) {
  std::size_t end = text.size();
  while (end > begin) {
    std::size_t start = end - 1;
    while (start > begin && is_within_character(text[start])) --start;
    if (first_character(text.substr(start)).bytes != end - start) start = end - 1;  // an invalid byte
    if (!is_stripped(first_character(text.substr(start)).code_point, text.substr(start, end - start))) break;
    end = start;
  }
  return end;
}

}  // namespace

Origin Text::origin_at(std::size_t byte) const {
  const auto run = std::upper_bound(runs_.begin(), runs_.end(), byte, [](auto at, const Run& r) { return at < r.end; });
  return run == runs_.end() ? kOwn : run->origin;
}

void Text::append(std::string_view bytes, Origin origin) {
  if (bytes.empty()) return;
  if (bytes.size() > kMostBytes - bytes_.size()) throw Error("a text grows beyond {} bytes", kMostBytes);
  bytes_ += bytes;
  if (!runs_.empty() && runs_.back().origin == origin) {
    runs_.back().end = bytes_.size();
    return;
  }
  if (runs_.size() == kMostRuns) throw Error("a text is put together of more than {} pieces", kMostRuns);
  runs_.push_back({bytes_.size(), origin});
}

void Text::append(const Text& text, std::size_t begin, std::size_t end) {
  auto run =
      std::upper_bound(text.runs_.begin(), text.runs_.end(), begin, [](auto at, const Run& r) { return at < r.end; });
  for (; begin < end; ++run) {
    const std::size_t stop = std::min(end, run->end);
    append(text.view().substr(begin, stop - begin), run->origin);
    begin = stop;
  }
}

Text Text::slice(std::size_t begin, std::size_t end) const {
  Text result;
  result.append(*this, begin, end);
  return result;
}

bool is_letter(std::int32_t code_point) {
  const auto category = code_point < 0 ? UTF8PROC_CATEGORY_CN : utf8proc_category(code_point);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

bool is_space(std::int32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::vector<std::size_t> character_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  std::size_t at = 0;
  for_each_character(text, [&](std::int32_t, std::string_view bytes) {
    starts.push_back(at);
    at += bytes.size();
  });
  starts.push_back(at);
  return starts;
}

std::string_view strip(std::string_view text, Side side, std::optional<std::string_view> characters) {
  const auto is_stripped = [&](std::int32_t code_point, std::string_view bytes) {
    return characters ? characters->find(bytes) != std::string_view::npos : is_space(code_point);
  };
  const std::size_t begin = side == Side::right ? 0 : stripped_begin(text, is_stripped);
  const std::size_t end = side == Side::left ? text.size() : stripped_end(text, begin, is_stripped);
  return text.substr(begin, end - begin);
}

Text strip(const Text& text, Side side, std::optional<std::string_view> characters) {
  const std::string_view kept = strip(text.view(), side, characters);
  const auto begin = static_cast<std::size_t>(kept.data() - text.view().data());
  return text.slice(begin, begin + kept.size());
}

Text replace(const Text& text, std::string_view from, const Text& to, std::int64_t most) {
  Text result;
  std::size_t at = 0, copied = 0;
  while (most != 0 && (at = text.view().find(from, at)) != std::string_view::npos) {
    if (most > 0) --most;
    result.append(text, copied, at);
    result.append(to);
    copied = at + from.size();
    if (!from.empty())
      at = copied;
    else if (at == text.size())
      break;
    else
      at += first_character(text.view().substr(at)).bytes;
  }
  result.append(text, copied, text.size());
  return result;
}

std::vector<Text> split_lines(const Text& text) {
  std::vector<Text> lines;
  std::size_t begin = 0, at = 0;
  const std::string_view view = text.view();
  for_each_character(view, [&](std::int32_t code_point, std::string_view bytes) {
    const std::size_t next = at + bytes.size();
    const bool second_half = code_point == '\n' && at > 0 && view[at - 1] == '\r';
    if (ends_line(code_point)) {
      if (!second_half) lines.push_back(text.slice(begin, at));
      begin = next;
    }
    at = next;
  });
  if (begin < text.size()) lines.push_back(text.slice(begin, text.size()));
  return lines;
}

Text change_characters(const Text& text, std::int32_t (*change)(std::int32_t, std::int32_t)) {
  Text result;
  std::size_t at = 0;
  std::int32_t before = kNoCharacter;
  for_each_character(text.view(), [&](std::int32_t code_point, std::string_view bytes) {
    const std::int32_t changed = code_point < 0 ? code_point : change(code_point, before);
    std::string written;
    if (changed != code_point) append_character(written, changed);
    result.append(changed == code_point ? bytes : std::string_view(written), text.origin_at(at));
    before = code_point;
    at += bytes.size();
  });
  return result;
}

}  // namespace agon::agents::jinja
