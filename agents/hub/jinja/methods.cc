#include "agents/hub/jinja/methods.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "agents/hub/jinja/operators.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::agents::jinja {
namespace {

using Method = Value (*)(const Value& self, const Arguments& arguments);
using MethodTable = std::map<std::string_view, Method, std::less<>>;

// Adds to a list and throws if it becomes too long.
void add_item(std::vector<Value>& items, Text text) {
  if (items.size() == Value::kMostValues) throw Error("a list has more than {} values", Value::kMostValues);
  items.emplace_back(std::move(text));
}

// Methods of texts.

template <Side side>
Value strip_method(const Value& self, const Arguments& arguments) {
  return strip(*self.text(), side, BoundArguments("strip()", arguments, {"chars"}).text_or_none(0));
}

Value split_at_spaces(const Text& text, std::int64_t most) {
  std::vector<Value> items;
  std::size_t at = 0;
  while (true) {
    const std::string_view rest = strip(text.view().substr(at), Side::left);
    at = text.size() - rest.size();
    if (rest.empty()) break;
    if (most >= 0 && static_cast<std::int64_t>(items.size()) == most) {
      add_item(items, text.slice(at, text.size()));
      break;
    }
    std::size_t end = at;
    while (end < text.size()) {
      const Character character = first_character(text.view().substr(end));
      if (is_space(character.code_point)) break;
      end += character.bytes;
    }
    add_item(items, text.slice(at, end));
    at = end;
  }
  return Value::list(std::move(items));
}

Value split_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("split()", arguments, {"sep", "maxsplit"});
  const Text& text = *self.text();
  const auto separator = bound.text_or_none(0);
  std::int64_t most = bound.whole(1, -1);
  if (!separator) return split_at_spaces(text, most);
  if (separator->empty()) throw Error("split(): the separator is empty");
  std::vector<Value> items;
  std::size_t begin = 0, at = 0;
  while (most != 0 && (at = text.view().find(*separator, begin)) != std::string_view::npos) {
    if (most > 0) --most;
    add_item(items, text.slice(begin, at));
    begin = at + separator->size();
  }
  add_item(items, text.slice(begin, text.size()));
  return Value::list(std::move(items));
}

Value rsplit_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("rsplit()", arguments, {"sep", "maxsplit"});
  std::int64_t most = bound.whole(1, -1);
  if (most < 0) return split_method(self, arguments);
  if (!bound.text_or_none(0)) throw Error("rsplit() with a limit needs a separator here");
  const std::string_view text = self.text()->view(), separator = bound.text(0).view();
  if (separator.empty()) throw Error("rsplit(): the separator is empty");
  std::vector<Value> items;
  std::size_t end = text.size();
  for (; most > 0 && end >= separator.size(); --most) {
    const std::size_t at = text.rfind(separator, end - separator.size());
    if (at == std::string_view::npos) break;
    add_item(items, self.text()->slice(at + separator.size(), end));
    end = at;
  }
  add_item(items, self.text()->slice(0, end));
  std::reverse(items.begin(), items.end());
  return Value::list(std::move(items));
}

Value splitlines_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("splitlines()", arguments, {});
  std::vector<Value> items;
  for (Text& line : split_lines(*self.text())) add_item(items, std::move(line));
  return Value::list(std::move(items));
}

template <bool last>
Value partition_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("partition()", arguments, {"sep"});
  const Text &text = *self.text(), &separator = bound.text(0);
  if (separator.empty()) throw Error("partition(): the separator is empty");
  const std::size_t at = last ? text.view().rfind(separator.view()) : text.view().find(separator.view());
  if (at == std::string_view::npos)
    return last ? Value::tuple({Text(), Text(), text}) : Value::tuple({text, Text(), Text()});
  return Value::tuple({text.slice(0, at), separator, text.slice(at + separator.size(), text.size())});
}

template <bool at_end>
Value affix_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound(at_end ? "endswith()" : "startswith()", arguments, {"affix"});
  const auto has = [&](const Text& affix) {
    return at_end ? self.text()->view().ends_with(affix.view()) : self.text()->view().starts_with(affix.view());
  };
  const Value& affix = bound.required(0);
  if (affix.list() == nullptr || !affix.list()->is_tuple) return has(bound.text(0));
  const auto& affixes = affix.list()->items;
  return std::any_of(affixes.begin(), affixes.end(), [&](const Value& a) { return a.text() && has(*a.text()); });
}

template <bool at_end>
Value without_affix_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound(at_end ? "removesuffix()" : "removeprefix()", arguments, {"affix"});
  const Text& text = *self.text();
  const std::string_view affix = bound.text(0).view();
  if (at_end) return text.view().ends_with(affix) ? text.slice(0, text.size() - affix.size()) : text;
  return text.view().starts_with(affix) ? text.slice(affix.size(), text.size()) : text;
}

Value replace_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("replace()", arguments, {"old", "new", "count"});
  return replace(*self.text(), bound.text(0).view(), bound.text(1), bound.whole(2, -1));
}

std::int32_t upper(std::int32_t c, std::int32_t) { return utf8proc_toupper(c); }
std::int32_t lower(std::int32_t c, std::int32_t) { return utf8proc_tolower(c); }
std::int32_t titled(std::int32_t c, std::int32_t before) {
  return is_letter(before) ? utf8proc_tolower(c) : utf8proc_totitle(c);
}
std::int32_t capitalized(std::int32_t c, std::int32_t before) {
  return before == kNoCharacter ? utf8proc_totitle(c) : utf8proc_tolower(c);
}
template <std::int32_t (*change)(std::int32_t, std::int32_t)>
Value change_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("the method", arguments, {});
  return change_characters(*self.text(), change);
}

std::int64_t characters_before(const Text& text, std::size_t byte) {
  return static_cast<std::int64_t>(character_starts(text.view().substr(0, byte)).size()) - 1;
}
template <bool last, bool must_be_there>
Value find_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("find()", arguments, {"sub"});
  const std::string_view part = bound.text(0).view();
  const std::size_t at = last ? self.text()->view().rfind(part) : self.text()->view().find(part);
  if (at != std::string_view::npos) return characters_before(*self.text(), at);
  if (must_be_there) throw Error("index(): the text does not hold '{}'", printable_line(cut_text(part, 40)));
  return std::int64_t{-1};
}
Value count_method(const Value& self, const Arguments& arguments) {
  const std::string_view text = self.text()->view();
  const std::string_view part = BoundArguments("count()", arguments, {"sub"}).text(0).view();
  if (part.empty()) return characters_before(*self.text(), text.size()) + 1;
  std::int64_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size()) ++count;
  return count;
}

// Whether the text is not empty and every character is of the kind.
template <bool (*is_kind)(std::int32_t)>
Value all_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("the method", arguments, {});
  bool all = !self.text()->empty();
  for_each_character(self.text()->view(), [&](std::int32_t c, std::string_view) { all = all && is_kind(c); });
  return all;
}
bool is_alphabetic(std::int32_t c) {
  return c >= 0 && utf8proc_category(c) >= UTF8PROC_CATEGORY_LU && utf8proc_category(c) <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(std::int32_t c) { return c >= 0 && utf8proc_category(c) == UTF8PROC_CATEGORY_ND; }
bool is_alphanumeric(std::int32_t c) { return is_alphabetic(c) || is_decimal(c); }
// Whether the text has cased letters and all of them have this case.
template <bool is_upper>
Value case_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("the method", arguments, {});
  bool any = false, all = true;
  for_each_character(self.text()->view(), [&](std::int32_t c, std::string_view) {
    if (!is_letter(c)) return;
    any = true;
    all = all && (utf8proc_category(c) == (is_upper ? UTF8PROC_CATEGORY_LU : UTF8PROC_CATEGORY_LL));
  });
  return any && all;
}

Value join_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("join()", arguments, {"iterable"});
  Text result;
  bool first = true;
  for (const Value& part : elements(bound.required(0))) {
    if (part.text() == nullptr) throw Error("join(): an element is of kind {}, not str", kind_name(part));
    if (!std::exchange(first, false)) result.append(*self.text());
    result.append(*part.text());
  }
  return result;
}

const MethodTable& text_methods() {
  static const MethodTable table = {{"capitalize", change_method<capitalized>},
                                    {"count", count_method},
                                    {"endswith", affix_method<true>},
                                    {"find", find_method<false, false>},
                                    {"index", find_method<false, true>},
                                    {"isalnum", all_method<is_alphanumeric>},
                                    {"isalpha", all_method<is_alphabetic>},
                                    {"isdigit", all_method<is_decimal>},
                                    {"islower", case_method<false>},
                                    {"isspace", all_method<is_space>},
                                    {"isupper", case_method<true>},
                                    {"join", join_method},
                                    {"lower", change_method<lower>},
                                    {"lstrip", strip_method<Side::left>},
                                    {"partition", partition_method<false>},
                                    {"removeprefix", without_affix_method<false>},
                                    {"removesuffix", without_affix_method<true>},
                                    {"replace", replace_method},
                                    {"rfind", find_method<true, false>},
                                    {"rindex", find_method<true, true>},
                                    {"rpartition", partition_method<true>},
                                    {"rsplit", rsplit_method},
                                    {"rstrip", strip_method<Side::right>},
                                    {"split", split_method},
                                    {"splitlines", splitlines_method},
                                    {"startswith", affix_method<false>},
                                    {"strip", strip_method<Side::both>},
                                    {"title", change_method<titled>},
                                    {"upper", change_method<upper>}};
  return table;
}

// Methods of dictionaries and lists.

template <bool keys, bool values>
Value entries_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("the method", arguments, {});
  std::vector<Value> items;
  for (const auto& [key, value] : self.dict()->entries)
    items.push_back(keys && values ? Value::tuple({key, value}) : keys ? key : value);
  return Value::list(std::move(items));
}
Value get_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("get()", arguments, {"key", "default"});
  const Value* found = self.dict()->find(bound.required(0));
  if (found != nullptr) return *found;
  return bound.find(1) != nullptr ? *bound.find(1) : Value();
}
Value copy_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("copy()", arguments, {});
  return self;
}
Value list_index_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("index()", arguments, {"value"});
  const auto& items = self.list()->items;
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const Value& v) { return equal(v, bound.required(0)); });
  if (found == items.end()) throw Error("index(): the value is not in the list");
  return std::int64_t{found - items.begin()};
}
Value list_count_method(const Value& self, const Arguments& arguments) {
  const BoundArguments bound("count()", arguments, {"value"});
  const auto& items = self.list()->items;
  return std::int64_t{
      std::count_if(items.begin(), items.end(), [&](const Value& v) { return equal(v, bound.required(0)); })};
}

const MethodTable& dict_methods() {
  static const MethodTable table = {{"copy", copy_method},
                                    {"get", get_method},
                                    {"items", entries_method<true, true>},
                                    {"keys", entries_method<true, false>},
                                    {"values", entries_method<false, true>}};
  return table;
}
const MethodTable& list_methods() {
  static const MethodTable table = {{"copy", copy_method}, {"count", list_count_method}, {"index", list_index_method}};
  return table;
}

// Whether the method would change a value: transformers' sandbox leaves these undefined.
bool changes(const Value& value, std::string_view name) {
  constexpr std::array<std::string_view, 8> kOfLists = {"append", "clear",  "extend",  "insert",
                                                        "pop",    "remove", "reverse", "sort"};
  constexpr std::array<std::string_view, 5> kOfDicts = {"clear", "pop", "popitem", "setdefault", "update"};
  const auto holds = [name](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  if (value.list() != nullptr) return !value.list()->is_tuple && holds(kOfLists);
  return value.dict() != nullptr && holds(kOfDicts);
}

Method find_method_of(const Value& value, std::string_view name) {
  const MethodTable* table = value.text()   ? &text_methods()
                             : value.dict() ? &dict_methods()
                             : value.list() ? &list_methods()
                                            : nullptr;
  if (table == nullptr) return nullptr;
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

Value loop_attribute(const Loop& loop, std::string_view name) {
  const auto& items = loop.items->items;
  const auto number = [](std::size_t value) { return Value(static_cast<std::int64_t>(value)); };
  if (name == "index") return number(loop.index + 1);
  if (name == "index0") return number(loop.index);
  if (name == "revindex") return number(items.size() - loop.index);
  if (name == "revindex0") return number(items.size() - loop.index - 1);
  if (name == "first") return loop.index == 0;
  if (name == "last") return loop.index + 1 == items.size();
  if (name == "length") return number(items.size());
  if (name == "depth") return number(1);
  if (name == "depth0") return number(0);
  if (name == "previtem")
    return loop.index == 0 ? Value::undefined("there is no previous item") : items[loop.index - 1];
  if (name == "nextitem")
    return loop.index + 1 == items.size() ? Value::undefined("there is no next item") : items[loop.index + 1];
  throw Error("loop.{} is not known", printable_line(name));
}

Value missing(const Value& object, std::string_view name) {
  return Value::undefined(
      fmt::format("a value of kind {} has no '{}'", kind_name(object), printable_line(cut_text(name, 60))));
}

// Looks up an attribute, not counting the keys of a dictionary.
std::optional<Value> find_attribute(const Value& object, std::string_view name) {
  if (object.loop() != nullptr) return loop_attribute(*object.loop(), name);
  if (const Namespace* space = object.attributes(); space != nullptr) {
    const auto found = space->attributes.find(name);
    return found == space->attributes.end() ? std::nullopt : std::optional(found->second);
  }
  if (changes(object, name))
    return Value::undefined(
        fmt::format("'{}' would change a {}, which a chat template may not", name, kind_name(object)));
  if (find_method_of(object, name) == nullptr) return std::nullopt;
  return Value(Function{std::string(name), std::make_shared<const Value>(object), nullptr});
}

Value element(const Value& object, std::int64_t index) {
  const Text* text = object.text();
  const auto starts = text ? character_starts(text->view()) : std::vector<std::size_t>();
  const auto size = static_cast<std::int64_t>(text ? starts.size() - 1 : object.list()->items.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) return missing(object, fmt::format("[{}]", index));
  const auto at = static_cast<std::size_t>(index);
  return text ? Value(text->slice(starts[at], starts[at + 1])) : object.list()->items[at];
}

// The range of a slice, as Python's slice.indices() computes it.
struct SliceRange {
  std::int64_t begin, end, step;
  static SliceRange of(std::int64_t size, const Value& begin, const Value& end, const Value& step) {
    SliceRange range{0, 0, bound(step, 1)};
    if (range.step == 0) throw Error("a slice with a step of 0");
    const std::int64_t low = range.step < 0 ? -1 : 0, high = range.step < 0 ? size - 1 : size;
    const auto placed = [&](std::int64_t at) { return std::clamp(at < 0 ? at + size : at, low, high); };
    range.begin = begin.is_none() ? (range.step < 0 ? high : low) : placed(bound(begin, 0));
    range.end = end.is_none() ? (range.step < 0 ? low : high) : placed(bound(end, 0));
    return range;
  }
  template <typename Visit>
  void for_each(Visit visit) const {  // `at` cannot overflow, since the step is clamped to kFar
    for (std::int64_t at = begin; step < 0 ? at > end : at < end; at += step) visit(static_cast<std::size_t>(at));
  }

 private:
  static std::int64_t bound(const Value& value, std::int64_t standard) {
    constexpr std::int64_t kFar = std::int64_t{1} << 40;
    if (value.is_none()) return standard;
    if (!value.is_int() && !value.is_bool()) {
      check_defined(value);
      throw Error("a slice by a value of kind {}", kind_name(value));
    }
    return std::clamp(value.whole(), -kFar, kFar);
  }
};

// The cost of a method in steps: on a text it may search for its arguments, on a dictionary it looks up a key.
std::size_t method_steps(const Value& self, const Arguments& arguments) {
  const std::size_t size = self.list() ? self.list()->items.size() : self.dict() ? self.dict()->entries.size() : 0;
  std::size_t steps = self.text() ? self.text()->size() / 64 : self.list() ? self.values() : size / 16;
  for (const Value& argument : arguments.positional) {
    if (self.text() && argument.text()) steps += search_steps(*self.text(), *argument.text());
    if (argument.list()) steps += argument.values();
    steps += size * (argument.values() / 4);
  }
  return steps;
}

}  // namespace

Value get_attribute(const Value& object, std::string_view name) {
  check_defined(object);
  if (auto found = find_attribute(object, name)) return *found;
  const Value* entry = object.dict() ? object.dict()->find(name) : nullptr;
  return entry ? *entry : missing(object, name);
}

Value get_item(const Value& object, const Value& key) {
  check_defined(object);
  if (object.dict() != nullptr)
    if (const Value* entry = object.dict()->find(key)) return *entry;
  if ((object.text() || object.list()) && (key.is_int() || key.is_bool())) return element(object, key.whole());
  if (key.text() != nullptr)
    if (auto found = find_attribute(object, key.text()->view())) return *found;
  return missing(object, key.text() ? key.text()->view() : kind_name(key));
}

Value get_slice(const Value& object, const Value& begin, const Value& end, const Value& step) {
  check_defined(object);
  if (const List* list = object.list()) {
    std::vector<Value> items;
    SliceRange::of(static_cast<std::int64_t>(list->items.size()), begin, end, step).for_each([&](std::size_t at) {
      items.push_back(list->items[at]);
    });
    return Value::list(std::move(items), list->is_tuple);
  }
  const Text* text = object.text();
  if (text == nullptr) throw Error("a slice of a value of kind {}", kind_name(object));
  const auto starts = character_starts(text->view());
  Text result;
  SliceRange::of(static_cast<std::int64_t>(starts.size()) - 1, begin, end, step).for_each([&](std::size_t at) {
    result.append(*text, starts[at], starts[at + 1]);
  });
  return result;
}

void charge(const Value& value, TemplateBudget& budget) {
  constexpr std::size_t kOverhead = 64;  // bytes of overhead of a value on the heap
  if (value.text() != nullptr) budget.spend_bytes(value.text()->size() + kOverhead);
  if (value.list() == nullptr) return;
  budget.spend_bytes(value.list()->items.size() * sizeof(Value) + kOverhead);
  for (const Value& item : value.list()->items) {
    if (item.text() != nullptr) budget.spend_bytes(item.text()->size() + kOverhead);
    if (item.list() != nullptr) budget.spend_bytes(kOverhead);
  }
}

Value call_method(const Value& self, std::string_view name, const Arguments& arguments, TemplateBudget& budget) {
  budget.spend_steps(method_steps(self, arguments));
  Value result = find_method_of(self, name)(self, arguments);
  charge(result, budget);
  return result;
}

}  // namespace agon::agents::jinja
