#include "core/json_parse.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json_builder.h"
#include "core/text.h"

namespace agon {

namespace {

constexpr std::size_t kMostTold = 200;  // bytes of the parser's message, which quotes the text
constexpr int kDeepestOfFile = 32, kMostValues = 100'000'000;

// The hint for a notation of other programs at this place; empty: unknown.
std::string hint_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(std::min(at, text.size()));
  const std::string_view before = trim(text.substr(0, std::min(at, text.size())));
  for (const std::string_view word : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "None", "undefined"})
    if (rest.starts_with(word)) return fmt::format(". JSON has no {}: write null, or leave the key out", word);
  if (rest.starts_with("True") || rest.starts_with("False")) return ". JSON writes true and false";
  if (rest.starts_with("'")) return ". JSON takes \" for quotation marks";
  if (rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with("#")) return ". JSON has no comments";
  if ((rest.starts_with("}") || rest.starts_with("]")) && before.ends_with(",")) return ". Remove the comma before it";
  return {};
}

// "not JSON: column 12: syntax error ...", from nlohmann's "parse error at line 1, column 12: ...". position: of the
// byte that it stopped at, from 1.
std::string fault_of(std::string_view text, std::string_view what, std::size_t position) {
  constexpr std::string_view kStart = "parse error at line ";
  if (!what.starts_with(kStart)) return fmt::format("not JSON: {}. Numbers are finite", what);  // an overflow
  what.remove_prefix(kStart.size());
  const bool one_line = text.find('\n') == text.npos;
  if (one_line) what.remove_prefix(std::min(what.find("column"), what.size()));
  // The parser stops a little late: the fault begins with the word that it could not read.
  std::size_t at = position > 0 ? position - 1 : 0;
  const auto in_word = [&](std::size_t i) {
    return i < text.size() && (std::isalpha(static_cast<unsigned char>(text[i])) != 0 || text[i] == '-');
  };
  while (at > 0 && in_word(at) && in_word(at - 1)) --at;
  return fmt::format("not JSON: {}{}{}", one_line ? "" : "line ", what, hint_at(text, at));
}

// A decimal number's digits without zeros at either end, and the exponent of ten behind them: "1.50e3" is 15, 2.
std::pair<std::string, std::int64_t> significant_digits(std::string_view number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  std::string_view power = number.substr(std::min(e + 1, number.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  std::string digits;
  bool in_fraction = false;
  for (const char c : number.substr(0, e)) {
    if (c == '.') in_fraction = true;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) continue;
    digits += c;
    exponent -= in_fraction ? 1 : 0;
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  for (; digits.ends_with('0'); ++exponent) digits.pop_back();
  return {digits, digits.empty() ? 0 : exponent};
}

// Whether `written` has the fewest digits that identify the value, or up to 17 correct ones, as some programs write
// them: "0.1" and "0.10000000000000001".
bool holds(double value, std::string_view written) {
  constexpr std::size_t kAlwaysHeld = 15, kMostTelling = 17;
  if (written.size() <= kAlwaysHeld && std::isnormal(value)) return true;
  const auto digits = significant_digits(written);
  const std::size_t count = std::max<std::size_t>(1, digits.first.size());
  return digits == significant_digits(fmt::format("{}", value)) ||
         (count <= kMostTelling && digits == significant_digits(fmt::format("{:.{}e}", value, count - 1)));
}

// The encoding, UTF-16 or UTF-32, as iconv names it; empty if the text may be UTF-8.
std::string wide_encoding(std::string_view start) {
  using namespace std::string_view_literals;
  if (start.starts_with("\xFF\xFE\0\0"sv) || start.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) return "UTF-16";
  const auto is_zero = [start](std::size_t i) { return i < start.size() && start[i] == '\0'; };
  if (is_zero(0)) return is_zero(1) ? "UTF-32BE" : "UTF-16BE";
  if (is_zero(1)) return is_zero(2) ? "UTF-32LE" : "UTF-16LE";
  return {};
}

// The place of the closing quotation mark of the string that begins at `begin`; the end of the text if there is none.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  std::size_t quote = text.find('"', begin + 1);
  for (std::size_t i = begin + 1; (i = text.substr(0, quote).find('\\', i)) != text.npos; i += 2)
    if (i + 1 == quote) quote = text.find('"', quote + 1);
  return std::min(quote, text.size());
}

// Whether a very long number stands outside strings. Reading it would cost more than everything else.
bool has_long_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 4000;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') i = end_of_string(text, i);
    digits = i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0 ? digits + 1 : 0;
    if (digits > kMostDigits) return true;
  }
  return false;
}

// The limits of a text, and how it is read.
struct Rules {
  std::size_t deepest = 0;
  int most_values = kMostValues;
  std::size_t most_keys = std::numeric_limits<std::size_t>::max();  // of one object
  // A key given twice is a fault. A fault says where it is and what JSON has in its place. A number with more digits
  // than a double holds becomes a string with its text, except for fractions in a list.
  bool of_file = false;
};

// Builds the value of a text, within bounds.
template <typename AnyJson>
class BoundedBuilder final : public JsonBuilder<AnyJson> {
 public:
  BoundedBuilder(std::string_view text, const Rules& rules) : text_(text), rules_(rules) {}

  bool number_float(double value, const std::string& written) override {
    const bool precise = value == std::floor(value) || !this->in_list();
    if (rules_.of_file && precise && !holds(value, written)) return add(written);
    return add(value);
  }
  bool key(std::string& name) override {
    const AnyJson& object = this->innermost();
    if (rules_.of_file && object.contains(name)) throw Error("the key {} occurs twice. Keep one", shown_text(name));
    if (object.size() == rules_.most_keys) throw Error("an object has more than {} keys", rules_.most_keys);
    return JsonBuilder<AnyJson>::key(name);
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& exception) override {
    const std::string_view what = exception.what();
    const std::string told = valid_utf8(cut_text(what.substr(what.find("] ") + 2), kMostTold));
    throw Error("{}", rules_.of_file ? fault_of(text_, told, position) : fmt::format("not JSON: {}", told));
  }

 private:
  bool add(AnyJson value) override {
    count_value();
    return JsonBuilder<AnyJson>::add(std::move(value));
  }
  bool open(AnyJson empty) override {
    if (this->depth() >= rules_.deepest) throw Error("nested more than {} deep", rules_.deepest);
    count_value();
    return JsonBuilder<AnyJson>::open(std::move(empty));
  }
  void count_value() {
    if (++values_ > rules_.most_values) throw Error("of more than {} values", rules_.most_values);
  }

  const std::string_view text_;
  const Rules rules_;
  int values_ = 0;
};

template <typename AnyJson>
AnyJson built(std::string_view text, const Rules& rules) {
  // The parser takes a NUL for the end of the text and ignores the rest.
  if (const std::size_t at = text.find('\0'); at != text.npos) throw Error("not JSON: byte {} is NUL", at + 1);
  BoundedBuilder<AnyJson> builder(text, rules);
  AnyJson::sax_parse(text, &builder);
  return builder.take();
}

ParsedJson built_or_fault(std::string_view text, const Rules& rules) {
  try {
    return {built<SortedJson>(text, rules), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

std::string shortened(std::string_view text) {
  const std::string_view start = cut_text(text, 60);
  return fmt::format("{}{}", start, start.size() < text.size() ? "..." : "");
}

}  // namespace

Json json_of(std::string_view text) { return built<Json>(text, {.deepest = kDeepestJson, .most_keys = kMostJsonKeys}); }

Json json_or_discarded(std::string_view text) {
  try {
    return json_of(text);
  } catch (const Error&) {
    return Json(Json::value_t::discarded);
  }
}

ParsedJson parse_json(std::string_view text, int deepest, int most_values) {
  if (has_long_number(text)) return {{}, "not JSON: it has a number of thousands of digits"};
  return built_or_fault(text, {.deepest = static_cast<std::size_t>(deepest), .most_values = most_values});
}

ParsedJson parse_json_of_file(std::string_view text) {
  return built_or_fault(text, {.deepest = kDeepestOfFile, .most_keys = kMostJsonKeys, .of_file = true});
}

void refuse_other_formats(const std::string& path, std::string_view start) {
  const auto begins = [start](std::string_view magic) { return start.starts_with(magic); };
  if (begins("PAR1"))
    throw Error(
        "{}: agon does not read Parquet. Convert it, with pandas and pyarrow: python3 -c \"import sys, pandas; "
        "pandas.read_parquet(sys.argv[1]).to_json(sys.argv[2], orient='records', lines=True)\" {} tasks.jsonl",
        path, shell_word(path));
  if (begins("version https://git-lfs"))
    throw Error("{}: this is a Git LFS pointer, not the file. Run git lfs pull in its repository.", path);
  if (begins("\x1F\x8B"))
    throw Error("{0}: compressed by gzip. Unpack it: gzip -dc {1} >tasks.jsonl", path, shell_word(path));
  if (begins("BZh"))
    throw Error("{0}: compressed by bzip2. Unpack it: bzip2 -dc {1} >tasks.jsonl", path, shell_word(path));
  if (begins("\xFD\x37zXZ"))
    throw Error("{0}: compressed by xz. Unpack it: xz -dc {1} >tasks.jsonl", path, shell_word(path));
  if (begins("\x28\xB5\x2F\xFD"))
    throw Error("{0}: compressed by zstd. Unpack it: zstd -dc {1} >tasks.jsonl", path, shell_word(path));
  if (begins("PK\x03\x04"))
    throw Error("{}: a zip archive or a workbook. Unpack it, or export it as JSON lines.", path);
  if (const std::string encoding = wide_encoding(start); !encoding.empty())
    throw Error("{}: {} text, where JSON is UTF-8. Convert it: iconv -f {} -t UTF-8 {} >tasks.jsonl", path, encoding,
                encoding, shell_word(path));
}

template <typename AnyJson>
std::string text_at(const AnyJson& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end()) throw Error("no \"{}\"", key);
  if (!found->is_string()) throw Error("\"{}\" is {}, not a text", key, shown(*found));
  return found->template get<std::string>();
}

template <typename AnyJson>
std::string text_at(const AnyJson& object, const std::string& key, const std::string& otherwise) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? otherwise : text_at(object, key);
}

template <typename AnyJson>
std::string filled_text_at(const AnyJson& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end()) throw Error("no \"{}\"", key);
  std::string text = text_or_empty(object, key);
  if (trim(text).empty()) throw Error("\"{}\" is {}, not a text with something in it", key, shown(*found));
  return text;
}

template <typename AnyJson>
std::string text_or_empty(const AnyJson& json, const std::string& key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->template get<std::string>() : std::string();
}

template std::string text_at(const Json&, const std::string&);
template std::string text_at(const SortedJson&, const std::string&);
template std::string text_at(const Json&, const std::string&, const std::string&);
template std::string text_at(const SortedJson&, const std::string&, const std::string&);
template std::string filled_text_at(const Json&, const std::string&);
template std::string filled_text_at(const SortedJson&, const std::string&);
template std::string text_or_empty(const Json&, const std::string&);
template std::string text_or_empty(const SortedJson&, const std::string&);

std::string shown(const SortedJson& value) { return shortened(to_text(value)); }
std::string shown(const Json& value) { return shortened(to_text(value)); }

std::string shown_text(std::string_view text, std::size_t most) {
  const std::string_view start = cut_text(trim(text.substr(0, 16 * most)), most);
  std::string line;
  for (const char c : start) line += static_cast<unsigned char>(c) < ' ' || c == 0x7F ? ' ' : c;
  const std::string quoted = to_text(SortedJson(line));
  return fmt::format("{}{}", quoted, start.size() < text.size() ? "..." : "");
}

}  // namespace agon
