#include "tools/json_text.h"

#include "core/error.h"
#include "core/text.h"

namespace agon::tools {

ParsedJson parse_json(std::string_view text, int deepest, int most_values) {
  int values = 0;
  const auto is_bounded = [&](int depth, SortedJson::parse_event_t, SortedJson&) {
    if (depth > deepest) throw Error("nested more than {} deep", deepest);
    if (++values > most_values) throw Error("of more than {} values", most_values);
    return true;
  };
  try {
    return {SortedJson::parse(text, is_bounded), {}};
  } catch (const SortedJson::exception& exception) {
    const std::string_view what = exception.what();
    return {{}, fmt::format("not JSON: {}", what.substr(what.find("] ") + 2))};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

std::string shown(const SortedJson& value) {
  const std::string text = value.dump(-1, ' ', true, SortedJson::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string shown_text(std::string_view text, std::size_t most) {
  const std::string_view start = cut_text(trim(text.substr(0, 16 * most)), most);
  std::string line;
  for (const char c : start) line += static_cast<unsigned char>(c) < ' ' || c == 0x7F ? ' ' : c;
  const std::string quoted = SortedJson(line).dump(-1, ' ', false, SortedJson::error_handler_t::replace);
  return fmt::format("{}{}", quoted, start.size() < text.size() ? "..." : "");
}

}  // namespace agon::tools
