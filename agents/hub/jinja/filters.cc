#include "agents/hub/jinja/filters.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "agents/hub/jinja/methods.h"
#include "agents/hub/jinja/operators.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::agents::jinja {
namespace {

using Filter = Value (*)(const Value& input, const Arguments& arguments, TemplateBudget& budget);
using Test = bool (*)(const Value& input, const Arguments& arguments, TemplateBudget& budget);

// Filters and tests that are a method of the printed value.
constexpr char kTrim[] = "strip", kUpper[] = "upper", kLower[] = "lower", kCapitalize[] = "capitalize",
               kReplace[] = "replace", kIsUpper[] = "isupper", kIsLower[] = "islower";
template <const char* method>
Value method_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  return call_method(printed(input), method, arguments, budget);
}

std::int32_t titled_word(std::int32_t c, std::int32_t before) {
  const bool begins_word = before == kNoCharacter || is_space(before) || before == '-' || before == '(' ||
                           before == '{' || before == '[' || before == '<';
  return begins_word ? utf8proc_toupper(c) : utf8proc_tolower(c);
}
Value title_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'title'", arguments, {});
  return change_characters(printed(input), titled_word);
}

Value string_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'string'", arguments, {});
  return printed(input);
}

Value default_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'default'", arguments, {"default_value", "boolean"});
  const bool missing = input.is_undefined() || (bound.flag(1, false) && !is_true(input));
  if (!missing) return input;
  return bound.find(0) != nullptr ? *bound.find(0) : Value(Text());
}

Value length_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'length'", arguments, {});
  if (input.text() != nullptr) return static_cast<std::int64_t>(character_starts(input.text()->view()).size()) - 1;
  if (input.list() != nullptr) return static_cast<std::int64_t>(input.list()->items.size());
  if (input.dict() != nullptr) return static_cast<std::int64_t>(input.dict()->entries.size());
  if (input.is_undefined()) return std::int64_t{0};
  throw Error("a value of kind {} has no length", kind_name(input));
}

template <bool last>
Value end_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'first' or 'last'", arguments, {});
  const auto items = elements(input);
  if (items.empty()) return Value::undefined("a sequence without items has no first and no last");
  return last ? items.back() : items.front();
}

Value list_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'list'", arguments, {});
  return Value::list(elements(input));
}

Value items_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  if (input.is_undefined()) return Value::list({});
  if (input.dict() == nullptr) throw Error("the filter 'items' needs a dict, not a value of kind {}", kind_name(input));
  return call_method(input, "items", arguments, budget);
}

Value reverse_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'reverse'", arguments, {});
  return get_slice(input.text() ? input : Value::list(elements(input)), {}, {}, std::int64_t{-1});
}

// The value at a path such as "function.name" or "0".
Value by_path(Value value, const Value& path) {
  if (path.text() == nullptr) return get_item(value, path);
  for (const std::string& name : split(path.text()->view(), ".")) {
    const bool is_index =
        !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == std::string::npos;
    value = get_item(value, is_index ? Value(std::int64_t{std::stoi(name)}) : Value::of(name));
  }
  return value;
}

Value join_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'join'", arguments, {"d", "attribute"});
  const Text separator = bound.find(0) != nullptr ? printed(*bound.find(0)) : Text();
  Text result;
  bool first = true;
  for (const Value& item : elements(input)) {
    if (!std::exchange(first, false)) result.append(separator);
    result.append(printed(bound.find(1) != nullptr ? by_path(item, *bound.find(1)) : item));
  }
  return result;
}

// The arguments after the first `count`.
Arguments without_first(const Arguments& arguments, std::size_t count) {
  const auto skipped = static_cast<std::ptrdiff_t>(std::min(count, arguments.positional.size()));
  return {{arguments.positional.begin() + skipped, arguments.positional.end()}, arguments.keywords};
}
const Text& named(const Arguments& arguments, std::size_t index, std::string_view what) {
  if (arguments.positional.size() <= index || arguments.positional[index].text() == nullptr)
    throw Error("{} needs the name of a filter, test or attribute", what);
  return *arguments.positional[index].text();
}

Value map_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  std::vector<Value> items = elements(input);
  if (arguments.positional.empty()) {
    const BoundArguments bound("the filter 'map'", arguments, {"attribute", "default"});
    for (Value& item : items) {
      Value found = by_path(item, bound.required(0));
      item = found.is_undefined() && bound.find(1) != nullptr ? *bound.find(1) : std::move(found);
    }
  } else {
    const Text& filter = named(arguments, 0, "the filter 'map'");
    const Arguments rest = without_first(arguments, 1);
    for (Value& item : items) item = apply_filter(filter.view(), item, rest, budget);
  }
  return Value::list(std::move(items));
}

// select, reject, selectattr, rejectattr: the items, or an attribute of each, by a test or by their truth.
template <bool wanted, bool by_attribute>
Value select_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  const std::size_t skipped = by_attribute ? 1 : 0;
  if (by_attribute) named(arguments, 0, "the filter 'selectattr' or 'rejectattr'");
  const bool has_test = arguments.positional.size() > skipped;
  const Arguments rest = without_first(arguments, skipped + 1);
  std::vector<Value> items;
  for (const Value& item : elements(input)) {
    const Value tested = by_attribute ? by_path(item, arguments.positional[0]) : item;
    const bool holds =
        has_test ? apply_test(named(arguments, skipped, "a selection").view(), tested, rest, budget) : is_true(tested);
    if (holds == wanted) items.push_back(item);
  }
  return Value::list(std::move(items));
}

// The key by which a value is sorted: a text in lower case, unless case_sensitive.
Value sort_key(const Value& value, bool case_sensitive, TemplateBudget& budget) {
  return case_sensitive || value.text() == nullptr ? value : call_method(value, "lower", {}, budget);
}

// Sorts stably by keys that are computed once.
Value sorted(const std::vector<Value>& items, std::vector<Value> keys, bool reverse, TemplateBudget& budget) {
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto before = [&](std::size_t a, std::size_t b) {
    budget.spend_steps(1 + comparison_steps(Comparator::less, keys[a], keys[b]));
    return reverse ? less(keys[b], keys[a]) : less(keys[a], keys[b]);
  };
  std::stable_sort(order.begin(), order.end(), before);
  std::vector<Value> result;
  for (std::size_t i : order) result.push_back(items[i]);
  return Value::list(std::move(result));
}

Value sort_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  const BoundArguments bound("the filter 'sort'", arguments, {"reverse", "case_sensitive", "attribute"});
  const std::vector<Value> items = elements(input);
  std::vector<Value> keys;
  for (const Value& item : items) {
    const bool by_attribute = bound.find(2) != nullptr && !bound.find(2)->is_none();
    keys.push_back(sort_key(by_attribute ? by_path(item, *bound.find(2)) : item, bound.flag(1, false), budget));
  }
  return sorted(items, std::move(keys), bound.flag(0, false), budget);
}

Value dictsort_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  const BoundArguments bound("the filter 'dictsort'", arguments, {"case_sensitive", "by", "reverse"});
  const bool by_value = bound.find(1) != nullptr && bound.text(1).view() == "value";
  const std::vector<Value> items = elements(items_filter(input, {}, budget));
  std::vector<Value> keys;
  for (const Value& item : items)
    keys.push_back(sort_key(item.list()->items[by_value ? 1 : 0], bound.flag(0, false), budget));
  return sorted(items, std::move(keys), bound.flag(2, false), budget);
}

Value unique_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  const BoundArguments bound("the filter 'unique'", arguments, {"case_sensitive", "attribute"});
  std::vector<Value> keys, items;
  for (const Value& item : elements(input)) {
    Value key = sort_key(bound.find(1) ? by_path(item, *bound.find(1)) : item, bound.flag(0, false), budget);
    budget.spend_steps(1 + keys.size() * (1 + key.values() / 4));
    if (std::any_of(keys.begin(), keys.end(), [&](const Value& other) { return equal(key, other); })) continue;
    keys.push_back(std::move(key));
    items.push_back(item);
  }
  return Value::list(std::move(items));
}

Text indentation(const Value* width, std::int64_t standard) {
  if (width != nullptr && width->text() != nullptr) return *width->text();
  if (width != nullptr && !width->is_int()) throw Error("an indentation is of kind {}", kind_name(*width));
  const std::int64_t blanks = std::max<std::int64_t>(width == nullptr ? standard : width->whole(), 0);
  return repeated(Text(" "), blanks);
}

Value indent_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'indent'", arguments, {"width", "first", "blank"});
  const Text indent = indentation(bound.find(0), 4);
  Text text = printed(input), result;
  text.append("\n");  // as jinja2 does, so that an empty last line counts
  const std::vector<Text> lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) result.append("\n");
    const bool indents = i == 0 ? bound.flag(1, false) : bound.flag(2, false) || !lines[i].empty();
    if (indents) result.append(indent);
    result.append(lines[i]);
  }
  return result;
}

Value tojson_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'tojson'", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ascii = bound.flag(0, false);
  style.sort_keys = bound.flag(3, false);
  if (bound.find(1) != nullptr && !bound.find(1)->is_none()) {
    style.indent = indentation(bound.find(1), 0).view();
    style.item_separator = ",";
  }
  if (bound.find(2) != nullptr && !bound.find(2)->is_none()) {
    const List* separators = bound.find(2)->list();
    if (separators == nullptr || separators->items.size() != 2) throw Error("tojson: separators are a pair of texts");
    style.item_separator = printed(separators->items[0]).view();
    style.key_separator = printed(separators->items[1]).view();
  }
  return to_json_text(input, style);
}

std::optional<double> number_in(std::string_view text) {
  text = strip(text, Side::both);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}
std::optional<std::int64_t> whole_in(std::string_view text) {
  text = strip(text, Side::both);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}
std::optional<std::int64_t> truncated(double number) {
  if (!(std::abs(number) < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

Value int_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'int'", arguments, {"default"});
  const Value standard = bound.find(0) != nullptr ? *bound.find(0) : Value(std::int64_t{0});
  std::optional<std::int64_t> whole;
  if (input.text() != nullptr) {
    whole = whole_in(input.text()->view());
    if (const auto number = whole ? std::nullopt : number_in(input.text()->view())) whole = truncated(*number);
  } else if (input.is_float()) {
    whole = truncated(input.number());
  } else if (input.is_number()) {
    whole = input.whole();
  }
  return whole ? Value(*whole) : standard;
}

Value float_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'float'", arguments, {"default"});
  if (input.is_number()) return input.number();
  const auto number = input.text() ? number_in(input.text()->view()) : std::nullopt;
  if (number) return *number;
  return bound.find(0) != nullptr ? *bound.find(0) : Value(0.0);
}

Value abs_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  const BoundArguments bound("the filter 'abs'", arguments, {});
  return less(input, std::int64_t{0}) ? apply_operator(BinaryOperator::subtract, std::int64_t{0}, input, budget)
                                      : input;
}

Value round_filter(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the filter 'round'", arguments, {"precision", "method"});
  if (!input.is_number()) throw Error("the filter 'round' needs a number, not a value of kind {}", kind_name(input));
  const std::string_view method = bound.find(1) != nullptr ? bound.text(1).view() : "common";
  if (!input.is_float() && method == "common") return input.whole();
  const double factor = std::pow(10.0, static_cast<double>(bound.whole(0, 0)));
  const double scaled = input.number() * factor;
  return (method == "ceil"    ? std::ceil(scaled)
          : method == "floor" ? std::floor(scaled)
                              : std::nearbyint(scaled)) /
         factor;
}

Value sum_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  const BoundArguments bound("the filter 'sum'", arguments, {"attribute", "start"});
  Value total = bound.find(1) != nullptr ? *bound.find(1) : Value(std::int64_t{0});
  const bool by_attribute = bound.find(0) != nullptr && !bound.find(0)->is_none();
  for (const Value& item : elements(input))
    total = apply_operator(BinaryOperator::add, total, by_attribute ? by_path(item, *bound.find(0)) : item, budget);
  return total;
}

template <bool largest>
Value extreme_filter(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  const BoundArguments bound("the filter 'min' or 'max'", arguments, {"case_sensitive", "attribute"});
  const Arguments by = {{largest, bound.flag(0, false), bound.find(1) ? *bound.find(1) : Value()}, {}};
  return end_filter<false>(sort_filter(input, by, budget), {}, budget);
}

const std::map<std::string_view, Filter, std::less<>>& filters() {
  static const std::map<std::string_view, Filter, std::less<>> table = {{"abs", abs_filter},
                                                                        {"capitalize", method_filter<kCapitalize>},
                                                                        {"count", length_filter},
                                                                        {"d", default_filter},
                                                                        {"default", default_filter},
                                                                        {"dictsort", dictsort_filter},
                                                                        {"first", end_filter<false>},
                                                                        {"float", float_filter},
                                                                        {"indent", indent_filter},
                                                                        {"int", int_filter},
                                                                        {"items", items_filter},
                                                                        {"join", join_filter},
                                                                        {"last", end_filter<true>},
                                                                        {"length", length_filter},
                                                                        {"list", list_filter},
                                                                        {"lower", method_filter<kLower>},
                                                                        {"map", map_filter},
                                                                        {"max", extreme_filter<true>},
                                                                        {"min", extreme_filter<false>},
                                                                        {"reject", select_filter<false, false>},
                                                                        {"rejectattr", select_filter<false, true>},
                                                                        {"replace", method_filter<kReplace>},
                                                                        {"reverse", reverse_filter},
                                                                        {"round", round_filter},
                                                                        {"safe", string_filter},
                                                                        {"select", select_filter<true, false>},
                                                                        {"selectattr", select_filter<true, true>},
                                                                        {"sort", sort_filter},
                                                                        {"string", string_filter},
                                                                        {"sum", sum_filter},
                                                                        {"title", title_filter},
                                                                        {"tojson", tojson_filter},
                                                                        {"trim", method_filter<kTrim>},
                                                                        {"unique", unique_filter},
                                                                        {"upper", method_filter<kUpper>}};
  return table;
}

// Tests.

template <Comparator comparator>
bool compare_test(const Value& input, const Arguments& arguments, TemplateBudget&) {
  return compare(comparator, input, BoundArguments("the test", arguments, {"other"}).required(0));
}
std::int64_t remainder_of(const Value& input, std::int64_t divisor) {
  if (!input.is_int() && !input.is_bool()) throw Error("a value of kind {} is not divided", kind_name(input));
  if (divisor == 0) throw Error("a division by 0");
  return divisor == -1 ? 0 : input.whole() % divisor;
}
bool divisible_test(const Value& input, const Arguments& arguments, TemplateBudget&) {
  return remainder_of(input, BoundArguments("the test 'divisibleby'", arguments, {"num"}).whole(0, 0)) == 0;
}
bool same_test(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const Value& other = BoundArguments("the test 'sameas'", arguments, {"other"}).required(0);
  return kind_name(input) == kind_name(other) && equal(input, other);
}
template <const char* method>
bool case_test(const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  return is_true(call_method(printed(input), method, arguments, budget));
}
// A test of the kind of a value.
template <bool (*is_kind)(const Value&)>
bool kind_test(const Value& input, const Arguments& arguments, TemplateBudget&) {
  const BoundArguments bound("the test", arguments, {});
  return is_kind(input);
}
bool is_false(const Value& value) { return value.is_bool() && !is_true(value); }
bool is_the_true(const Value& value) { return value.is_bool() && is_true(value); }
bool is_defined(const Value& value) { return !value.is_undefined(); }
bool is_undefined(const Value& value) { return value.is_undefined(); }
bool is_none(const Value& value) { return value.is_none(); }
bool is_bool(const Value& value) { return value.is_bool(); }
bool is_whole(const Value& value) { return value.is_int(); }
bool is_float(const Value& value) { return value.is_float(); }
bool is_number(const Value& value) { return value.is_number(); }
bool is_even(const Value& value) { return remainder_of(value, 2) == 0; }
bool is_odd(const Value& value) { return remainder_of(value, 2) != 0; }
bool is_text(const Value& value) { return value.text() != nullptr; }
bool is_dict(const Value& value) { return value.dict() != nullptr; }
bool is_function(const Value& value) { return value.function() != nullptr; }
// An undefined value is an empty sequence to jinja2.
bool is_sequence(const Value& value) { return value.text() || value.list() || value.dict() || value.is_undefined(); }

const std::map<std::string_view, Test, std::less<>>& tests() {
  static const std::map<std::string_view, Test, std::less<>> table = {
      {"!=", compare_test<Comparator::unequal>},
      {"<", compare_test<Comparator::less>},
      {"<=", compare_test<Comparator::less_equal>},
      {"==", compare_test<Comparator::equal>},
      {">", compare_test<Comparator::greater>},
      {">=", compare_test<Comparator::greater_equal>},
      {"boolean", kind_test<is_bool>},
      {"callable", kind_test<is_function>},
      {"defined", kind_test<is_defined>},
      {"divisibleby", divisible_test},
      {"eq", compare_test<Comparator::equal>},
      {"equalto", compare_test<Comparator::equal>},
      {"even", kind_test<is_even>},
      {"false", kind_test<is_false>},
      {"float", kind_test<is_float>},
      {"ge", compare_test<Comparator::greater_equal>},
      {"greaterthan", compare_test<Comparator::greater>},
      {"gt", compare_test<Comparator::greater>},
      {"in", compare_test<Comparator::in>},
      {"integer", kind_test<is_whole>},
      {"iterable", kind_test<is_sequence>},
      {"le", compare_test<Comparator::less_equal>},
      {"lessthan", compare_test<Comparator::less>},
      {"lower", case_test<kIsLower>},
      {"lt", compare_test<Comparator::less>},
      {"mapping", kind_test<is_dict>},
      {"ne", compare_test<Comparator::unequal>},
      {"none", kind_test<is_none>},
      {"number", kind_test<is_number>},
      {"odd", kind_test<is_odd>},
      {"sameas", same_test},
      {"sequence", kind_test<is_sequence>},
      {"string", kind_test<is_text>},
      {"true", kind_test<is_the_true>},
      {"undefined", kind_test<is_undefined>},
      {"upper", case_test<kIsUpper>}};
  return table;
}

std::size_t visits(const Value& value) { return 1 + value.values() / 4; }

}  // namespace

bool is_filter(std::string_view name) { return filters().contains(name); }
bool is_test(std::string_view name) { return tests().contains(name); }

Value apply_filter(std::string_view name, const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  const TemplateBudget::Level level(budget);  // map() may apply map()
  const auto filter = filters().find(name);
  if (filter == filters().end()) throw Error("the filter '{}' is not known", printable_line(cut_text(name, 40)));
  budget.spend_steps(visits(input));
  Value result = filter->second(input, arguments, budget);
  charge(result, budget);
  return result;
}

bool apply_test(std::string_view name, const Value& input, const Arguments& arguments, TemplateBudget& budget) {
  const auto test = tests().find(name);
  if (test == tests().end()) throw Error("the test '{}' is not known", printable_line(cut_text(name, 40)));
  budget.spend_steps(1);
  for (const Value& argument : arguments.positional)
    budget.spend_steps(comparison_steps(Comparator::in, input, argument));
  return test->second(input, arguments, budget);
}

}  // namespace agon::agents::jinja
