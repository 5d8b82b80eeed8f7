#include "agents/hub/jinja/interpreter.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>

#include "agents/hub/jinja/arguments.h"
#include "agents/hub/jinja/filters.h"
#include "agents/hub/jinja/methods.h"
#include "agents/hub/jinja/operators.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::agents::jinja {
namespace {

// The variables of a block, which can also see those of the enclosing blocks.
class Scope {
 public:
  explicit Scope(const Scope* outer) : outer_(outer) {}
  void set(const std::string& name, Value value) {
    const auto found = std::find_if(values_.begin(), values_.end(), [&](const auto& v) { return v.first == name; });
    if (found == values_.end())
      values_.emplace_back(name, std::move(value));
    else
      found->second = std::move(value);
  }
  const Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer_)
      for (const auto& [key, value] : scope->values_)
        if (key == name) return &value;
    return nullptr;
  }

 private:
  const Scope* const outer_;
  Variables values_;
};

std::string formatted_time(const std::string& format, std::time_t now) {
  if (format.size() > 256) throw Error("strftime_now(): the format has more than 256 bytes");
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 4096> buffer{};
  return {buffer.data(), std::strftime(buffer.data(), buffer.size(), format.c_str(), &parts)};
}

class Interpreter {
 public:
  Interpreter(const TemplateLimits& limits, std::time_t now) : budget_(limits), now_(now) {}

  Text run(const Body& body, const Variables& variables) try {
    Scope given(nullptr);
    for (const auto& [name, value] : variables) given.set(name, value);
    Scope top(&given);
    top_ = &top;
    run_body(body, top);
    return std::move(*output_);
  } catch (const Error& error) {
    throw Error("line {}: {}", line_, error.what());
  }

 private:
  enum class Flow { on, next_item, leave_loop };

  // Statements.
  Flow run_body(const Body& body, Scope& scope) {
    for (const Statement& statement : body)
      if (const Flow flow = run_statement(statement, scope); flow != Flow::on) return flow;
    return Flow::on;
  }
  Flow run_inner(const Body& body, const Scope& outer) {
    Scope scope(&outer);
    return run_body(body, scope);
  }
  Flow run_statement(const Statement& statement, Scope& scope) {
    const TemplateBudget::Level level(budget_);
    budget_.spend_steps(1);
    line_ = statement.line;
    return std::visit([&](const auto& node) { return run_node(node, scope); }, statement.node);
  }

  Flow run_node(const DataStatement& data, Scope&) {
    print(data.text);
    return Flow::on;
  }
  Flow run_node(const OutputStatement& output, Scope& scope) {
    const Value value = evaluate(*output.value, scope);
    print(value.text() ? *value.text() : printed(value));
    return Flow::on;
  }
  Flow run_node(const IfStatement& choice, Scope& scope) {
    for (const auto& [condition, body] : choice.branches)
      if (condition == nullptr || is_true(evaluate(*condition, scope))) return run_body(body, scope);
    return Flow::on;
  }
  Flow run_node(const ForStatement& loop, Scope& scope) {
    const Value items = loop_items(loop, scope);
    if (items.list()->items.empty()) return run_inner(loop.otherwise, scope);
    auto state = std::make_shared<Loop>();
    state->items = std::make_shared<const List>(*items.list());
    for (; state->index < state->items->items.size(); ++state->index) {
      budget_.spend_steps(1);
      Scope inner(&scope);
      inner.set("loop", std::shared_ptr<const Loop>(state));
      assign(loop.target, state->items->items[state->index], inner);
      if (run_body(loop.body, inner) == Flow::leave_loop) break;
    }
    return Flow::on;
  }
  Value loop_items(const ForStatement& loop, Scope& scope) {
    std::vector<Value> items = elements(evaluate(*loop.items, scope));
    if (loop.filter != nullptr)
      std::erase_if(items, [&](const Value& item) {
        Scope inner(&scope);
        assign(loop.target, item, inner);
        return !is_true(evaluate(*loop.filter, inner));
      });
    return made(Value::list(std::move(items)));
  }
  Flow run_node(const SetStatement& set, Scope& scope) {
    assign(set.target, set.is_block ? block_value(set.body, set.value.get(), scope) : evaluate(*set.value, scope),
           scope);
    return Flow::on;
  }
  Flow run_node(const std::unique_ptr<MacroStatement>& macro, Scope& scope) {
    scope.set(macro->name, Function{macro->name, nullptr, macro.get()});
    return Flow::on;
  }
  Flow run_node(const FilterStatement& block, Scope& scope) {
    print(printed(block_value(block.body, block.filter.get(), scope)));
    return Flow::on;
  }
  Flow run_node(const WithStatement& with, Scope& scope) {
    Scope inner(&scope);
    for (const auto& [target, value] : with.assignments) assign(target, evaluate(*value, scope), inner);
    return run_body(with.body, inner);
  }
  Flow run_node(const GenerationStatement& generation, Scope& scope) { return run_inner(generation.body, scope); }
  Flow run_node(const BreakStatement&, Scope&) { return Flow::leave_loop; }
  Flow run_node(const ContinueStatement&, Scope&) { return Flow::next_item; }

  void print(const Text& text) {
    if (text.size() > budget_.limits().output - std::min(budget_.limits().output, output_->size()))
      throw Error("it prints more than {} bytes", budget_.limits().output);
    budget_.spend_bytes(text.size());
    output_->append(text);
  }
  // The text that a body prints, passed through the filters if there are any.
  Value block_value(const Body& body, const TemplateExpression* filters, Scope& scope) {
    Text text;
    Text* const outer = std::exchange(output_, &text);
    run_inner(body, scope);
    output_ = outer;
    if (filters == nullptr) return text;
    const Value* const outer_input = std::exchange(block_input_, nullptr);
    const Value input(std::move(text));
    block_input_ = &input;
    Value result = evaluate(*filters, scope);
    block_input_ = outer_input;
    return result;
  }

  void assign(const AssignmentTarget& target, Value value, Scope& scope) {
    if (!target.attribute.empty()) return assign_attribute(target, std::move(value), scope);
    if (!target.unpacks) return scope.set(target.names[0], std::move(value));
    check_defined(value);
    const auto items = elements(value);
    if (items.size() != target.names.size())
      throw Error("{} values do not go into {} names", items.size(), target.names.size());
    for (std::size_t i = 0; i < items.size(); ++i) scope.set(target.names[i], items[i]);
  }
  void assign_attribute(const AssignmentTarget& target, Value value, Scope& scope) {
    const Value* object = scope.find(target.names[0]);
    if (object == nullptr || object->attributes() == nullptr)
      throw Error("{}.{} cannot be set: {} is not a namespace", target.names[0], target.attribute, target.names[0]);
    object->attributes()->attributes.insert_or_assign(target.attribute, std::move(value));
  }

  // Expressions.
  Value evaluate(const TemplateExpression& expression, Scope& scope) {
    const TemplateBudget::Level level(budget_);
    budget_.spend_steps(1);
    const int line = std::exchange(line_, expression.line);
    Value value = std::visit([&](const auto& node) { return evaluate_node(node, scope); }, expression.node);
    line_ = line;  // after an Error it keeps the line of the error
    return value;
  }
  Value evaluate_or_none(const ExpressionPtr& expression, Scope& scope) {
    return expression == nullptr ? Value() : evaluate(*expression, scope);
  }
  Value made(Value value) {
    charge(value, budget_);
    return value;
  }

  Value evaluate_node(const LiteralExpression& literal, Scope&) { return literal.value; }
  Value evaluate_node(const NameExpression& name, Scope& scope) {
    if (const Value* value = scope.find(name.name)) return *value;
    if (is_global(name.name)) return Function{name.name, nullptr, nullptr};
    return Value::undefined(fmt::format("'{}' is undefined", printable_line(cut_text(name.name, 60))));
  }
  Value evaluate_node(const ListExpression& list, Scope& scope) {
    std::vector<Value> items;
    for (const ExpressionPtr& item : list.items) items.push_back(evaluate(*item, scope));
    return made(Value::list(std::move(items), list.is_tuple));
  }
  Value evaluate_node(const DictExpression& dict, Scope& scope) {
    std::vector<Entry> entries;
    for (const auto& [key, value] : dict.entries) {
      const Value evaluated = evaluate(*key, scope);
      set_entry(entries, evaluated, evaluate(*value, scope));
    }
    return Value::dict(std::move(entries));
  }
  void set_entry(std::vector<Entry>& entries, const Value& key, Value value) {
    budget_.spend_steps(1 + entries.size() / 16);
    budget_.spend_bytes(sizeof(Entry));
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return equal(e.first, key); });
    if (found == entries.end())
      entries.emplace_back(key, std::move(value));
    else
      found->second = std::move(value);
  }
  Value evaluate_node(const NotExpression& negation, Scope& scope) {
    return !is_true(evaluate(*negation.operand, scope));
  }
  Value evaluate_node(const SignExpression& sign, Scope& scope) {
    const Value value = negated(evaluate(*sign.operand, scope));
    return sign.negative ? value : negated(value);
  }
  Value evaluate_node(const BinaryExpression& binary, Scope& scope) {
    const Value left = evaluate(*binary.left, scope);
    return apply_operator(binary.op, left, evaluate(*binary.right, scope), budget_);
  }
  Value evaluate_node(const LogicExpression& logic, Scope& scope) {
    Value left = evaluate(*logic.left, scope);
    return is_true(left) == logic.is_and ? evaluate(*logic.right, scope) : left;
  }
  Value evaluate_node(const ComparisonExpression& comparison, Scope& scope) {
    Value left = evaluate(*comparison.first, scope);
    for (const auto& [comparator, expression] : comparison.rest) {
      Value right = evaluate(*expression, scope);
      budget_.spend_steps(comparison_steps(comparator, left, right));
      if (!compare(comparator, left, right)) return false;
      left = std::move(right);
    }
    return true;
  }
  Value evaluate_node(const ConditionalExpression& conditional, Scope& scope) {
    if (is_true(evaluate(*conditional.condition, scope))) return evaluate(*conditional.value, scope);
    if (conditional.otherwise != nullptr) return evaluate(*conditional.otherwise, scope);
    return Value::undefined("the condition is false and there is no 'else'");
  }
  Value evaluate_node(const AttributeExpression& attribute, Scope& scope) {
    return get_attribute(looked_into(evaluate(*attribute.object, scope)), attribute.name);
  }
  Value evaluate_node(const ItemExpression& item, Scope& scope) {
    const Value object = looked_into(evaluate(*item.object, scope)), key = evaluate(*item.key, scope);
    if (object.dict() != nullptr) budget_.spend_steps(object.dict()->entries.size() * (key.values() / 4));
    return made(get_item(object, key));
  }
  // Charges the cost of a search in the value.
  Value looked_into(Value value) {
    budget_.spend_steps(value.dict()   ? value.dict()->entries.size() / 16
                        : value.text() ? value.text()->size() / 64
                                       : 0);
    return value;
  }
  Value evaluate_node(const SliceExpression& slice, Scope& scope) {
    const Value object = looked_into(evaluate(*slice.object, scope));
    const Value begin = evaluate_or_none(slice.begin, scope), end = evaluate_or_none(slice.end, scope);
    return made(get_slice(object, begin, end, evaluate_or_none(slice.step, scope)));
  }
  Value evaluate_node(const FilterExpression& filter, Scope& scope) {
    const Value input = filter.input == nullptr ? *block_input_ : evaluate(*filter.input, scope);
    return apply_filter(filter.name, input, evaluate_arguments(filter.arguments, scope), budget_);
  }
  Value evaluate_node(const TestExpression& test, Scope& scope) {
    const Value input = evaluate(*test.input, scope);
    return apply_test(test.name, input, evaluate_arguments(test.arguments, scope), budget_);
  }
  Value evaluate_node(const CallExpression& call, Scope& scope) {
    const Value callee = evaluate(*call.callee, scope);
    check_defined(callee);
    const Function* function = callee.function();
    if (function == nullptr) throw Error("a value of kind {} is called", kind_name(callee));
    const Arguments arguments = evaluate_arguments(call.arguments, scope);
    if (function->macro != nullptr) return call_macro(*function->macro, arguments);
    if (function->self != nullptr) return call_method(*function->self, function->name, arguments, budget_);
    return call_global(function->name, arguments);
  }
  Arguments evaluate_arguments(const ArgumentExpressions& expressions, Scope& scope) {
    Arguments arguments;
    for (const ExpressionPtr& argument : expressions.positional)
      arguments.positional.push_back(evaluate(*argument, scope));
    for (const auto& [keyword, argument] : expressions.keywords)
      arguments.keywords.emplace_back(keyword, evaluate(*argument, scope));
    return arguments;
  }

  // Functions.
  Value call_macro(const MacroStatement& macro, const Arguments& arguments) {
    const auto& parameters = macro.parameters;
    if (arguments.positional.size() > parameters.size())
      throw Error("the macro '{}' takes at most {} arguments, {} are given", macro.name, parameters.size(),
                  arguments.positional.size());
    for (const auto& given : arguments.keywords)
      if (std::none_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == given.first; }))
        throw Error("the macro '{}' has no argument '{}'", macro.name, given.first);
    Scope scope(top_);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      scope.set(parameters[i].first, macro_argument(macro, i, arguments, scope));
    Text text;
    Text* const outer = std::exchange(output_, &text);
    run_body(macro.body, scope);
    output_ = outer;
    return text;
  }
  Value macro_argument(const MacroStatement& macro, std::size_t index, const Arguments& arguments, Scope& scope) {
    const auto& [name, standard] = macro.parameters[index];
    if (index < arguments.positional.size()) return arguments.positional[index];
    for (const auto& [keyword, value] : arguments.keywords)
      if (keyword == name) return value;
    if (standard != nullptr) return evaluate(*standard, scope);
    return Value::undefined(fmt::format("the macro '{}' was called without '{}'", macro.name, name));
  }

  using Global = Value (Interpreter::*)(const Arguments&);
  static Global find_global(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, Global>, 5> kGlobals = {
        {{"range", &Interpreter::range},
         {"namespace", &Interpreter::make_namespace},
         {"dict", &Interpreter::make_dict},
         {"raise_exception", &Interpreter::raise_exception},
         {"strftime_now", &Interpreter::strftime_now}}};
    const auto found = std::find_if(kGlobals.begin(), kGlobals.end(), [&](const auto& g) { return g.first == name; });
    return found == kGlobals.end() ? nullptr : found->second;
  }
  static bool is_global(std::string_view name) { return find_global(name) != nullptr; }
  Value call_global(std::string_view name, const Arguments& arguments) { return (this->*find_global(name))(arguments); }

  Value range(const Arguments& arguments) {
    const BoundArguments bound("range()", arguments, {"start", "stop", "step"});
    const bool one = bound.find(1) == nullptr;
    const std::int64_t start = one ? 0 : bound.whole(0, 0), step = bound.whole(2, 1);
    std::int64_t stop = bound.required(0).is_number() ? bound.whole(one ? 0 : 1, 0) : bound.whole(0, 0);
    if (step == 0) throw Error("range() with a step of 0");
    std::vector<Value> items;
    for (std::int64_t at = start; step > 0 ? at < stop : at > stop;) {
      if (items.size() == kMostRange) throw Error("range() of more than {} numbers", kMostRange);
      items.emplace_back(at);
      if (__builtin_add_overflow(at, step, &at)) break;
    }
    return made(Value::list(std::move(items)));
  }
  std::vector<Entry> entries_of(const Arguments& arguments) {
    if (arguments.positional.size() > 1) throw Error("namespace() and dict() take one dict and names");
    std::vector<Entry> entries;
    if (!arguments.positional.empty()) {
      const Dict* dict = arguments.positional[0].dict();
      if (dict == nullptr) throw Error("namespace() and dict() take one dict and names");
      entries = dict->entries;
    }
    budget_.spend_bytes(entries.size(), sizeof(Entry));
    for (const auto& [keyword, value] : arguments.keywords) set_entry(entries, Value::of(keyword), value);
    return entries;
  }
  Value make_dict(const Arguments& arguments) { return Value::dict(entries_of(arguments)); }
  Value make_namespace(const Arguments& arguments) {
    budget_.spend_bytes(sizeof(Namespace));
    Namespace& result = namespaces_.emplace_back();
    for (const auto& [key, value] : entries_of(arguments))
      result.attributes.insert_or_assign(std::string(printed(key).view()), value);
    return &result;
  }
  Value raise_exception(const Arguments& arguments) {
    const BoundArguments bound("raise_exception()", arguments, {"message"});
    throw Error("{}", printable_line(cut_text(printed(bound.required(0)).view(), 1000)));
  }
  Value strftime_now(const Arguments& arguments) {
    const BoundArguments bound("strftime_now()", arguments, {"format"});
    return Text(formatted_time(std::string(bound.text(0).view()), now_));
  }

  static constexpr std::size_t kMostRange = 100'000;  // the limit of jinja2's sandbox
  TemplateBudget budget_;
  const std::time_t now_;
  int line_ = 1;
  Scope* top_ = nullptr;  // the variables that macros see
  Text printed_;
  Text* output_ = &printed_;
  const Value* block_input_ = nullptr;  // input of a block's filters
  std::deque<Namespace> namespaces_;
};

}  // namespace

Text run_template(const Body& body, const Variables& variables, const TemplateLimits& limits, std::time_t now) {
  return Interpreter(limits, now).run(body, variables);
}

}  // namespace agon::agents::jinja
