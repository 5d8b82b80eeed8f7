#include "agents/hub/jinja/operators.h"

#include <algorithm>
#include <cmath>

#include "agents/hub/jinja/methods.h"
#include "core/error.h"

namespace agon::agents::jinja {
namespace {

std::string_view symbol(BinaryOperator op) {
  constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "**", "~"};
  return kSymbols[static_cast<std::size_t>(op)];
}

[[noreturn]] void refuse(BinaryOperator op, const Value& left, const Value& right) {
  check_defined(left);
  check_defined(right);
  throw Error("'{}' does not take values of the kinds {} and {}", symbol(op), kind_name(left), kind_name(right));
}
[[noreturn]] void overflow(BinaryOperator op) { throw Error("'{}' gives a whole number beyond 64 bits", symbol(op)); }

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow(BinaryOperator::power);
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) overflow(BinaryOperator::power);
  }
  return result;
}

Value on_floats(BinaryOperator op, double left, double right) {
  const bool divides =
      op == BinaryOperator::divide || op == BinaryOperator::floor_divide || op == BinaryOperator::modulo;
  const bool inverts = op == BinaryOperator::power && left == 0 && right < 0;
  if (inverts || (divides && right == 0)) throw Error("a division by 0");
  switch (op) {
    case BinaryOperator::add:
      return left + right;
    case BinaryOperator::subtract:
      return left - right;
    case BinaryOperator::multiply:
      return left * right;
    case BinaryOperator::divide:
      return left / right;
    case BinaryOperator::floor_divide:
      return std::floor(left / right);
    case BinaryOperator::modulo: {
      const double rest = std::fmod(left, right);
      return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
    }
    default:
      return std::pow(left, right);
  }
}

Value on_wholes(BinaryOperator op, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  switch (op) {
    case BinaryOperator::add:
      if (__builtin_add_overflow(left, right, &result)) overflow(op);
      return result;
    case BinaryOperator::subtract:
      if (__builtin_sub_overflow(left, right, &result)) overflow(op);
      return result;
    case BinaryOperator::multiply:
      if (__builtin_mul_overflow(left, right, &result)) overflow(op);
      return result;
    case BinaryOperator::power:
      if (right >= 0) return power(left, right);
      [[fallthrough]];
    case BinaryOperator::divide:
      return on_floats(op, static_cast<double>(left), static_cast<double>(right));
    default:
      break;
  }
  if (right == 0) throw Error("a division by 0");
  if (right == -1) return op == BinaryOperator::modulo ? Value(std::int64_t{0}) : negated(left);
  const std::int64_t rest = left % right;
  const bool rounds_down = rest != 0 && (rest < 0) != (right < 0);
  if (op == BinaryOperator::modulo) return rounds_down ? rest + right : rest;
  return left / right - (rounds_down ? 1 : 0);
}

Value joined(const List& left, const List& right, TemplateBudget& budget) {
  budget.spend_bytes(left.items.size() + right.items.size(), sizeof(Value));
  std::vector<Value> items = left.items;
  items.insert(items.end(), right.items.begin(), right.items.end());
  return Value::list(std::move(items), left.is_tuple);
}
Value repeated(const List& list, std::int64_t times, TemplateBudget& budget) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  budget.spend_bytes(count, list.items.size() * sizeof(Value));
  std::vector<Value> items;
  for (std::size_t i = 0; i < (list.items.empty() ? 0 : count); ++i)
    items.insert(items.end(), list.items.begin(), list.items.end());
  return Value::list(std::move(items), list.is_tuple);
}

Value concatenated(const Text& left, const Text& right, TemplateBudget& budget) {
  budget.spend_bytes(left.size() + right.size() + 64);
  Text text = left;
  text.append(right);
  return text;
}

bool contains(const Value& container, const Value& value) {
  if (container.is_undefined()) return false;
  if (const Text* text = container.text()) {
    check_defined(value);
    if (value.text() == nullptr)
      throw Error("'in' a text asks for a text, not for a value of kind {}", kind_name(value));
    return text->view().find(value.text()->view()) != std::string_view::npos;
  }
  if (const Dict* dict = container.dict()) return dict->find(value) != nullptr;
  if (container.list() == nullptr) throw Error("a value of kind {} has no elements", kind_name(container));
  const auto& items = container.list()->items;
  return std::any_of(items.begin(), items.end(), [&](const Value& item) { return equal(item, value); });
}

}  // namespace

Text repeated(const Text& text, std::int64_t times) {
  Text result;
  if (text.empty()) return result;
  for (std::int64_t i = 0; i < times; ++i) result.append(text);
  return result;
}

Value negated(const Value& value) {
  check_defined(value);
  if (!value.is_number()) throw Error("a value of kind {} has no sign", kind_name(value));
  if (value.is_float()) return -value.number();
  return on_wholes(BinaryOperator::subtract, 0, value.whole());
}

Value apply_operator(BinaryOperator op, const Value& left, const Value& right, TemplateBudget& budget) {
  if (op == BinaryOperator::concatenate) return concatenated(printed(left), printed(right), budget);
  if (left.is_number() && right.is_number())
    return left.is_float() || right.is_float() ? on_floats(op, left.number(), right.number())
                                               : on_wholes(op, left.whole(), right.whole());
  if (op == BinaryOperator::add && left.text() && right.text())
    return concatenated(*left.text(), *right.text(), budget);
  if (op == BinaryOperator::add && left.list() && right.list() && left.list()->is_tuple == right.list()->is_tuple)
    return joined(*left.list(), *right.list(), budget);
  if (op != BinaryOperator::multiply) refuse(op, left, right);
  const bool number_first = left.is_int() || left.is_bool();
  const Value &times = number_first ? left : right, &sequence = number_first ? right : left;
  if (!times.is_int() && !times.is_bool()) refuse(op, left, right);
  if (sequence.list() != nullptr) return repeated(*sequence.list(), times.whole(), budget);
  if (sequence.text() == nullptr) refuse(op, left, right);
  Value result = repeated(*sequence.text(), times.whole());
  charge(result, budget);
  return result;
}

std::size_t search_steps(const Text& text, const Text& part) { return text.size() / 64 * (1 + part.size() / 64); }

std::size_t comparison_steps(Comparator comparator, const Value& left, const Value& right) {
  const bool searches = comparator == Comparator::in || comparator == Comparator::not_in;
  if (searches && left.text() && right.text()) return search_steps(*right.text(), *left.text());
  return (left.values() + right.values()) / 4;
}

bool compare(Comparator comparator, const Value& left, const Value& right) {
  switch (comparator) {
    case Comparator::equal:
      return equal(left, right);
    case Comparator::unequal:
      return !equal(left, right);
    case Comparator::less:
      return less(left, right);
    case Comparator::less_equal:
      return !less(right, left);
    case Comparator::greater:
      return less(right, left);
    case Comparator::greater_equal:
      return !less(left, right);
    case Comparator::in:
      return contains(right, left);
    default:
      return !contains(right, left);
  }
}

}  // namespace agon::agents::jinja
