// agents/hub/jinja/operators.h - arithmetic and comparison operators with Python's semantics.
#pragma once

#include "agents/hub/jinja/budget.h"
#include "agents/hub/jinja/syntax.h"
#include "agents/hub/jinja/value.h"

namespace agon::agents::jinja {

// Throws Error for kinds that the operator does not accept, for a division by 0, and for a whole number beyond 64 bits.
Value apply_operator(BinaryOperator op, const Value& left, const Value& right, TemplateBudget& budget);
bool compare(Comparator comparator, const Value& left, const Value& right);
// The highest cost of a comparison, in steps. A search for one text in another is quadratic in the worst case.
std::size_t comparison_steps(Comparator comparator, const Value& left, const Value& right);
std::size_t search_steps(const Text& text, const Text& part);
Value negated(const Value& value);
Text repeated(const Text& text, std::int64_t times);

}  // namespace agon::agents::jinja
