// agents/hub/jinja/syntax.h - the syntax tree of a template, as the parser builds it and the interpreter walks it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agents/hub/jinja/value.h"

namespace agon::agents::jinja {

struct TemplateExpression;
struct Statement;
using ExpressionPtr = std::unique_ptr<const TemplateExpression>;
using Body = std::vector<Statement>;

enum class BinaryOperator { add, subtract, multiply, divide, floor_divide, modulo, power, concatenate };
enum class Comparator { equal, unequal, less, less_equal, greater, greater_equal, in, not_in };

struct ArgumentExpressions {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> keywords;
};

struct LiteralExpression {
  Value value;
};
struct NameExpression {
  std::string name;
};
struct ListExpression {
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
};
struct DictExpression {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
};
struct NotExpression {
  ExpressionPtr operand;
};
struct SignExpression {
  ExpressionPtr operand;
  bool negative = false;
};
struct BinaryExpression {
  BinaryOperator op;
  ExpressionPtr left, right;
};
struct LogicExpression {  // and, or
  bool is_and = false;
  ExpressionPtr left, right;
};
struct ComparisonExpression {  // a < b <= c
  ExpressionPtr first;
  std::vector<std::pair<Comparator, ExpressionPtr>> rest;
};
struct ConditionalExpression {
  ExpressionPtr condition, value, otherwise;  // `otherwise` may be null
};
struct AttributeExpression {
  ExpressionPtr object;
  std::string name;
};
struct ItemExpression {
  ExpressionPtr object, key;
};
struct SliceExpression {
  ExpressionPtr object, begin, end, step;  // all but the object may be null
};
struct CallExpression {
  ExpressionPtr callee;
  ArgumentExpressions arguments;
};
struct FilterExpression {
  ExpressionPtr input;  // null: the text that the block prints
  std::string name;
  ArgumentExpressions arguments;
};
struct TestExpression {
  ExpressionPtr input;
  std::string name;
  ArgumentExpressions arguments;
};
struct TemplateExpression {
  int line = 0;
  std::variant<LiteralExpression, NameExpression, ListExpression, DictExpression, NotExpression, SignExpression,
               BinaryExpression, LogicExpression, ComparisonExpression, ConditionalExpression, AttributeExpression,
               ItemExpression, SliceExpression, CallExpression, FilterExpression, TestExpression>
      node;
};

// The target of an assignment: a name, several names, or an attribute of a namespace.
struct AssignmentTarget {
  std::vector<std::string> names;
  std::string attribute;  // if not empty: of the namespace names[0]
  bool unpacks = false;
};

struct DataStatement {
  Text text;
};
struct OutputStatement {
  ExpressionPtr value;
};
struct IfStatement {
  std::vector<std::pair<ExpressionPtr, Body>> branches;  // the condition of {% else %} is null
};
struct ForStatement {
  AssignmentTarget target;
  ExpressionPtr items, filter;  // `filter` may be null
  Body body, otherwise;
};
struct SetStatement {
  AssignmentTarget target;
  ExpressionPtr value;  // of a block: the filters applied to its text, or null
  bool is_block = false;
  Body body;
};
struct MacroStatement {
  std::string name;
  std::vector<std::pair<std::string, ExpressionPtr>> parameters;  // with defaults, or null
  Body body;
};
struct FilterStatement {
  ExpressionPtr filter;
  Body body;
};
struct WithStatement {
  std::vector<std::pair<AssignmentTarget, ExpressionPtr>> assignments;
  Body body;
};
struct GenerationStatement {  // {% generation %}, which marks text for training in transformers; prints its body
  Body body;
};
struct BreakStatement {};
struct ContinueStatement {};
struct Statement {
  int line = 0;
  std::variant<DataStatement, OutputStatement, IfStatement, ForStatement, SetStatement, std::unique_ptr<MacroStatement>,
               FilterStatement, WithStatement, GenerationStatement, BreakStatement, ContinueStatement>
      node;
};

}  // namespace agon::agents::jinja
