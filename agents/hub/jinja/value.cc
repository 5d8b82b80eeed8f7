#include "agents/hub/jinja/value.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace agon::agents::jinja {
namespace {

std::string digits_of(const Value& whole) {
  return whole.large() ? fmt::format("{}", *whole.large()) : fmt::format("{}", whole.whole());
}

// Counts the depth and number of values of a tree, and throws beyond the limits.
class TreeSize {
 public:
  void add(const Value& value) {
    depth_ = std::max(depth_, value.depth() + 1);
    values_ += value.values();
    if (depth_ > Value::kMostDepth) throw Error("a value nests more than {} lists", Value::kMostDepth);
    if (values_ > Value::kMostValues) throw Error("a value holds more than {} values", Value::kMostValues);
  }
  int depth() const { return depth_; }
  std::size_t values() const { return values_; }

 private:
  int depth_ = 1;
  std::size_t values_ = 1;
};

// The shortest digits that round-trip, in Python's format: 0.1, 1e-05, 1e+16, 100.0.
std::string float_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto format = number != 0 && (std::abs(number) < 1e-4 || std::abs(number) >= 1e16)
                          ? std::chars_format::scientific
                          : std::chars_format::fixed;
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, format).ptr;
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

bool is_printable(std::int32_t code_point) {
  if (code_point == ' ') return true;
  if (code_point < 0) return false;
  const auto category = utf8proc_category(code_point);
  return category != UTF8PROC_CATEGORY_CN && category < UTF8PROC_CATEGORY_ZS;
}

std::string hex_escape(std::int32_t code_point) {
  if (code_point < 0x100) return fmt::format("\\x{:02x}", code_point);
  return code_point < 0x10000 ? fmt::format("\\u{:04x}", code_point) : fmt::format("\\U{:08x}", code_point);
}

std::string python_escape(std::int32_t code_point, std::string_view bytes, char quote) {
  switch (code_point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\\':
      return "\\\\";
    default:
      if (code_point == quote) return std::string("\\") + quote;
      return code_point < 0 || is_printable(code_point) ? std::string(bytes) : hex_escape(code_point);
  }
}

std::string json_escape(std::int32_t code_point, std::string_view bytes, bool ascii) {
  constexpr std::string_view kNamed = "\b\f\n\r\t\"\\", kLetters = "bfnrt\"\\";
  if (code_point >= 0 && code_point < 0x80)
    if (const auto at = kNamed.find(static_cast<char>(code_point)); at != std::string_view::npos)
      return std::string("\\") + kLetters[at];
  if (code_point >= 0 && code_point < 0x20) return fmt::format("\\u{:04x}", code_point);
  if (!ascii || (code_point >= 0 && code_point < 0x80)) return std::string(bytes);
  if (code_point < 0x10000) return fmt::format("\\u{:04x}", code_point < 0 ? 0xFFFD : code_point);
  const std::int32_t beyond = code_point - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (beyond >> 10), 0xDC00 + (beyond & 0x3FF));
}

// Appends the text in quotes with each character mapped by `escape`; the result keeps the character's origin.
template <typename Escape>
void append_quoted(const Text& text, char quote, Escape escape, Text& out) {
  const std::string_view mark(&quote, 1);
  out.append(mark);
  std::size_t at = 0;
  for_each_character(text.view(), [&](std::int32_t code_point, std::string_view bytes) {
    out.append(escape(code_point, bytes), text.origin_at(at));
    at += bytes.size();
  });
  out.append(mark);
}

void append_repr(const Value& value, Text& out);

void append_repr(const Text& text, Text& out) {
  const bool single =
      text.view().find('\'') != std::string_view::npos && text.view().find('"') == std::string_view::npos;
  const char quote = single ? '"' : '\'';
  append_quoted(
      text, quote, [quote](auto code_point, auto bytes) { return python_escape(code_point, bytes, quote); }, out);
}

void append_repr(const List& list, Text& out) {
  out.append(list.is_tuple ? "(" : "[");
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) out.append(", ");
    append_repr(list.items[i], out);
  }
  if (list.is_tuple && list.items.size() == 1) out.append(",");
  out.append(list.is_tuple ? ")" : "]");
}

void append_repr(const Dict& dict, Text& out) {
  out.append("{");
  for (std::size_t i = 0; i < dict.entries.size(); ++i) {
    if (i > 0) out.append(", ");
    append_repr(dict.entries[i].first, out);
    out.append(": ");
    append_repr(dict.entries[i].second, out);
  }
  out.append("}");
}

void append_repr(const Value& value, Text& out) {
  if (value.text() != nullptr)
    append_repr(*value.text(), out);
  else if (value.list() != nullptr)
    append_repr(*value.list(), out);
  else if (value.dict() != nullptr)
    append_repr(*value.dict(), out);
  else if (value.is_undefined())
    out.append("Undefined");
  else
    out.append(printed(value));
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style) : style_(style) {}
  void write(const Value& value) {
    if (value.text() != nullptr)
      write(*value.text());
    else if (value.list() != nullptr)
      write(*value.list());
    else if (value.dict() != nullptr)
      write(*value.dict());
    else
      out_.append(plain(value));
  }
  Text take() { return std::move(out_); }

 private:
  static std::string plain(const Value& value) {
    check_defined(value);
    if (value.is_none()) return "null";
    if (value.is_bool()) return is_true(value) ? "true" : "false";
    if (value.is_int()) return digits_of(value);
    if (!value.is_float()) throw Error("a value of kind {} has no form in JSON", kind_name(value));
    if (std::isnan(value.number())) return "NaN";
    if (std::isinf(value.number())) return value.number() < 0 ? "-Infinity" : "Infinity";
    return float_text(value.number());
  }
  void write(const Text& text) {
    append_quoted(
        text, '"', [this](auto code_point, auto bytes) { return json_escape(code_point, bytes, style_.ascii); }, out_);
  }
  void write(const List& list) {
    if (list.items.empty()) return out_.append("[]");
    open("[");
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      next(i);
      write(list.items[i]);
    }
    close("]");
  }
  void write(const Dict& dict) {
    if (dict.entries.empty()) return out_.append("{}");
    std::vector<Entry> entries = dict.entries;
    const auto by_key = [](const Entry& a, const Entry& b) { return less(a.first, b.first); };
    if (style_.sort_keys) std::stable_sort(entries.begin(), entries.end(), by_key);
    open("{");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      next(i);
      write_key(entries[i].first);
      out_.append(style_.key_separator);
      write(entries[i].second);
    }
    close("}");
  }
  void write_key(const Value& key) {
    if (key.text() != nullptr) return write(*key.text());
    if (key.list() != nullptr) throw Error("a tuple is a key: JSON has texts for keys");
    out_.append("\"");
    out_.append(plain(key));
    out_.append("\"");
  }
  void open(std::string_view bracket) {
    out_.append(bracket);
    ++level_;
  }
  void next(std::size_t index) {
    if (index > 0) out_.append(style_.item_separator);
    new_line();
  }
  void close(std::string_view bracket) {
    --level_;
    new_line();
    out_.append(bracket);
  }
  void new_line() {
    if (!style_.indent) return;
    out_.append("\n");
    for (int i = 0; i < level_; ++i) out_.append(*style_.indent);
  }

  const JsonStyle& style_;
  Text out_;
  int level_ = 0;
};

bool equal_entries(const Dict& left, const Dict& right) {
  return left.entries.size() == right.entries.size() &&
         std::all_of(left.entries.begin(), left.entries.end(), [&](const Entry& entry) {
           const Value* other = right.find(entry.first);
           return other != nullptr && equal(entry.second, *other);
         });
}

bool equal_numbers(const Value& left, const Value& right) {
  if (left.large() && right.large()) return *left.large() == *right.large();
  if (left.large() || right.large()) return left.number() == right.number() && (left.is_float() || right.is_float());
  return left.is_float() || right.is_float() ? left.number() == right.number() : left.whole() == right.whole();
}

bool less_number(const Value& left, const Value& right) {
  if (left.large() && right.large()) return *left.large() < *right.large();
  const bool as_float = left.is_float() || right.is_float() || left.large() || right.large();
  return as_float ? left.number() < right.number() : left.whole() < right.whole();
}

}  // namespace

Value::Value(Function function) : data_(std::make_shared<const Function>(std::move(function))) {}

std::int64_t Value::whole() const {
  if (large()) throw Error("{} is too large to compute with: more than 64 bits with a sign", *large());
  return is_bool() ? std::get<bool>(data_) : std::get<std::int64_t>(data_);
}

double Value::number() const {
  if (is_float()) return std::get<double>(data_);
  return large() ? static_cast<double>(*large()) : static_cast<double>(whole());
}

Value Value::undefined(std::string why) {
  Value value;
  value.data_ = Undefined{std::make_shared<const std::string>(std::move(why))};
  return value;
}

Value Value::list(std::vector<Value> items, bool is_tuple) {
  TreeSize size;
  for (const Value& item : items) size.add(item);
  return std::make_shared<const List>(List{std::move(items), is_tuple, size.depth(), size.values()});
}

Value Value::dict(std::vector<Entry> entries) {
  TreeSize size;
  for (const Entry& entry : entries) {
    size.add(entry.first);
    size.add(entry.second);
  }
  return std::make_shared<const Dict>(Dict{std::move(entries), size.depth(), size.values()});
}

Value Value::from_json(const Json& json, Origin origin, int depth) {
  if (depth > kMostDepth) throw Error("a value nests more than {} lists", kMostDepth);
  if (json.is_boolean()) return json.get<bool>();
  if (const auto whole = whole_number<std::int64_t>(json, INT64_MIN, INT64_MAX)) return *whole;
  if (json.is_number_unsigned()) {
    Value large;
    large.data_ = json.get<std::uint64_t>();
    return large;
  }
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return of(json.get_ref<const std::string&>(), origin);
  if (json.is_array()) {
    std::vector<Value> items;
    for (const Json& item : json) items.push_back(from_json(item, origin, depth + 1));
    return list(std::move(items));
  }
  if (!json.is_object()) return {};
  std::vector<Entry> entries;
  for (const auto& [key, item] : json.items())
    entries.emplace_back(of(key, origin), from_json(item, origin, depth + 1));
  return dict(std::move(entries));
}

std::string Value::why_undefined() const { return *std::get<Undefined>(data_).why; }
std::size_t Value::values() const {
  constexpr std::size_t kBytesOfValue = 256;  // texts count by length, else a list of a few long ones would be cheap
  return text() ? 1 + text()->size() / kBytesOfValue : list() ? list()->values : dict() ? dict()->values : 1;
}
int Value::depth() const { return list() ? list()->depth : dict() ? dict()->depth : 0; }

const Value* Dict::find(const Value& key) const {
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return equal(e.first, key); });
  return entry == entries.end() ? nullptr : &entry->second;
}

const Value* Dict::find(std::string_view key) const {
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) {
    return e.first.text() != nullptr && e.first.text()->view() == key;
  });
  return entry == entries.end() ? nullptr : &entry->second;
}

std::string_view kind_name(const Value& value) {
  if (value.is_undefined()) return "Undefined";
  if (value.is_none()) return "NoneType";
  if (value.is_bool()) return "bool";
  if (value.is_int()) return "int";
  if (value.is_float()) return "float";
  if (value.text() != nullptr) return "str";
  if (value.list() != nullptr) return value.list()->is_tuple ? "tuple" : "list";
  if (value.dict() != nullptr) return "dict";
  if (value.loop() != nullptr) return "loop";
  return value.attributes() != nullptr ? "namespace" : "function";
}

bool is_true(const Value& value) {
  if (value.is_undefined() || value.is_none()) return false;
  if (value.is_number()) return value.number() != 0;
  if (value.text() != nullptr) return !value.text()->empty();
  if (value.list() != nullptr) return !value.list()->items.empty();
  return value.dict() == nullptr || !value.dict()->entries.empty();
}

bool equal(const Value& left, const Value& right) {
  if (left.is_number() && right.is_number()) return equal_numbers(left, right);
  if (left.text() && right.text()) return left.text()->view() == right.text()->view();
  if (left.list() && right.list())
    return left.list()->is_tuple == right.list()->is_tuple &&
           std::equal(left.list()->items.begin(), left.list()->items.end(), right.list()->items.begin(),
                      right.list()->items.end(), equal);
  if (left.dict() && right.dict()) return equal_entries(*left.dict(), *right.dict());
  if (left.is_undefined() || left.is_none()) return kind_name(left) == kind_name(right);
  if (left.attributes() != nullptr) return left.attributes() == right.attributes();
  if (left.loop() != nullptr) return left.loop() == right.loop();
  return left.function() != nullptr && left.function() == right.function();
}

bool less(const Value& left, const Value& right) {
  if (left.is_number() && right.is_number()) return less_number(left, right);
  if (left.text() && right.text()) return left.text()->view() < right.text()->view();
  if (left.list() && right.list() && left.list()->is_tuple == right.list()->is_tuple)
    return std::lexicographical_compare(left.list()->items.begin(), left.list()->items.end(),
                                        right.list()->items.begin(), right.list()->items.end(), less);
  check_defined(left);
  check_defined(right);
  throw Error("values of the kinds {} and {} have no order", kind_name(left), kind_name(right));
}

Text printed(const Value& value) {
  if (value.text() != nullptr) return *value.text();
  if (value.is_undefined()) return {};
  if (value.is_none()) return Text("None");
  if (value.is_bool()) return Text(is_true(value) ? "True" : "False");
  if (value.is_int()) return Text(digits_of(value));
  if (value.is_float()) return Text(float_text(value.number()));
  if (value.list() == nullptr && value.dict() == nullptr)
    throw Error("a value of kind {} has no text", kind_name(value));
  Text text;
  append_repr(value, text);
  return text;
}

void check_defined(const Value& value) {
  if (value.is_undefined()) throw Error("{}", value.why_undefined());
}

std::vector<Value> elements(const Value& value) {
  if (value.is_undefined()) return {};
  if (value.list() != nullptr) return value.list()->items;
  std::vector<Value> result;
  if (value.text() != nullptr) {
    const auto starts = character_starts(value.text()->view());
    if (starts.size() > Value::kMostValues) throw Error("a text has more than {} characters", Value::kMostValues);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) result.push_back(value.text()->slice(starts[i], starts[i + 1]));
  } else if (value.dict() != nullptr) {
    for (const Entry& entry : value.dict()->entries) result.push_back(entry.first);
  } else {
    throw Error("a value of kind {} has no elements", kind_name(value));
  }
  return result;
}

Text to_json_text(const Value& value, const JsonStyle& style) {
  JsonWriter writer(style);
  writer.write(value);
  return writer.take();
}

}  // namespace agon::agents::jinja
