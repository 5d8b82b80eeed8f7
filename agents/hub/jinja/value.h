// agents/hub/jinja/value.h - the values in a template: the Python values that chat templates use, immutable except for
// namespaces. Printing, truth, equality and order are Python's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agents/hub/jinja/text.h"
#include "core/json.h"

namespace agon::agents::jinja {

class Value;
struct MacroStatement;
using Entry = std::pair<Value, Value>;

// An undefined value, with the reason: "'x' is undefined". It prints as nothing, is empty and false; any other use
// throws Error.
struct Undefined {
  std::shared_ptr<const std::string> why;
};
struct None {};

struct List;
struct Dict;
struct Namespace;
struct Loop;
struct Function;

class Value {
 public:
  static constexpr int kMostDepth = 100;
  static constexpr std::size_t kMostValues = std::size_t{1} << 20;

  Value() : data_(None{}) {}
  Value(bool value) : data_(value) {}
  Value(std::int64_t value) : data_(value) {}
  Value(double value) : data_(value) {}
  Value(Text text) : data_(std::make_shared<const Text>(std::move(text))) {}
  Value(std::shared_ptr<const List> list) : data_(std::move(list)) {}
  Value(std::shared_ptr<const Dict> dict) : data_(std::move(dict)) {}
  Value(std::shared_ptr<const Loop> loop) : data_(std::move(loop)) {}
  Value(Namespace* attributes) : data_(attributes) {}
  Value(Function function);
  template <typename Other>
  Value(const Other*) = delete;  // would be a bool

  static Value undefined(std::string why);
  static Value of(std::string_view text, Origin origin = kOwn) { return Text(text, origin); }
  // Throw Error beyond kMostDepth or kMostValues.
  static Value list(std::vector<Value> items, bool is_tuple = false);
  static Value tuple(std::vector<Value> items) { return list(std::move(items), true); }
  static Value dict(std::vector<Entry> entries);  // REQUIRES: no two keys are equal
  // All texts, including keys, get the origin. A whole number from 2^63 to below 2^64 keeps its digits; it can be
  // printed and compared, but not used in arithmetic. A larger one becomes a float.
  static Value from_json(const Json& json, Origin origin, int depth = 0);

  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_none() const { return std::holds_alternative<None>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(data_) || large() != nullptr; }
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_bool() || is_int() || is_float(); }

  // Null for a value of another kind.
  const Text* text() const { return shared<Text>(); }
  const List* list() const { return shared<List>(); }
  const Dict* dict() const { return shared<Dict>(); }
  const Loop* loop() const { return shared<Loop>(); }
  const Function* function() const { return shared<Function>(); }
  Namespace* attributes() const {
    const auto* found = std::get_if<Namespace*>(&data_);
    return found == nullptr ? nullptr : *found;
  }
  const std::uint64_t* large() const { return std::get_if<std::uint64_t>(&data_); }  // null if below 2^63
  std::int64_t whole() const;         // REQUIRES: is_int() or is_bool(). Throws Error for a large one.
  double number() const;              // REQUIRES: is_number()
  std::string why_undefined() const;  // REQUIRES: is_undefined()
  std::size_t values() const;         // number of values in it: the cost of a walk over it
  int depth() const;

 private:
  template <typename Kind>
  const Kind* shared() const {
    const auto* found = std::get_if<std::shared_ptr<const Kind>>(&data_);
    return found == nullptr ? nullptr : found->get();
  }
  std::variant<Undefined, None, bool, std::int64_t, std::uint64_t, double, std::shared_ptr<const Text>,
               std::shared_ptr<const List>, std::shared_ptr<const Dict>, std::shared_ptr<const Loop>, Namespace*,
               std::shared_ptr<const Function>>
      data_;
};

// A list or a tuple. `depth` and `values` describe the tree below it. They are limited on construction, so that walks
// over a value need no limit of their own. A long text counts as several values.
struct List {
  std::vector<Value> items;
  bool is_tuple = false;
  int depth = 1;
  std::size_t values = 1;
};
struct Dict {
  std::vector<Entry> entries;  // in the order written
  int depth = 1;
  std::size_t values = 1;
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
};
// A namespace, which {% set ns.name = value %} changes. The run owns it, because it may contain itself.
struct Namespace {
  std::map<std::string, Value, std::less<>> attributes;
};
// The variable `loop` of a {% for %}.
struct Loop {
  std::shared_ptr<const List> items;
  std::size_t index = 0;
};
// A macro, a method of a value (with `self`), or a global function.
struct Function {
  std::string name;
  std::shared_ptr<const Value> self;
  const MacroStatement* macro = nullptr;
};

std::string_view kind_name(const Value& value);  // the Python type's name, for messages: "str", "dict"
bool is_true(const Value& value);
bool equal(const Value& left, const Value& right);
bool less(const Value& left, const Value& right);  // throws Error for kinds that have no order
Text printed(const Value& value);                  // str(); a text stays unchanged
void check_defined(const Value& value);            // throws Error "'x' is undefined"

// The values that a loop visits: items, keys or characters; empty if undefined. Throws Error for other kinds.
std::vector<Value> elements(const Value& value);

// Options of Python's json.dumps(). `indent`: the indentation of one level; without it, one line.
struct JsonStyle {
  std::optional<std::string> indent;
  std::string item_separator = ", ", key_separator = ": ";
  bool ascii = false, sort_keys = false;
};
Text to_json_text(const Value& value, const JsonStyle& style);

}  // namespace agon::agents::jinja
