#include "agents/hub/jinja/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "agents/hub/jinja/filters.h"
#include "agents/hub/jinja/lexer.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::agents::jinja {
namespace {

constexpr std::size_t kMostSourceBytes = std::size_t{1} << 20;
constexpr int kMostNesting = 200;  // of expressions and blocks; limits the stack of parser and destructor

class Parser {
  using Kind = Token::Kind;

 public:
  explicit Parser(std::string_view source) : tokens_(tokenize(source)) {}

  Body run() {
    Body body = parse_body({});
    if (!at(Kind::end)) fail(fmt::format("unexpected {{% {} %}}", printable_line(peek(1).text)));
    return body;
  }

 private:
  // Counts nesting levels while it lives: its own, and those that a chain such as a + b + c adds to the tree.
  class Nesting {
   public:
    explicit Nesting(Parser& parser, int own = 1) : parser_(parser) {
      if (own > 0) deeper();
    }
    ~Nesting() { parser_.nesting_ -= levels_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    void deeper() {
      if (parser_.nesting_ == kMostNesting) parser_.fail(fmt::format("it nests more than {} levels", kMostNesting));
      ++parser_.nesting_;
      ++levels_;
    }

   private:
    Parser& parser_;
    int levels_ = 0;
  };

  // Tokens.
  [[noreturn]] void fail(const std::string& why) const { throw Error("line {}: {}", here().line, why); }
  const Token& peek(std::size_t ahead) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& here() const { return peek(0); }
  bool at(Kind kind) const { return here().kind == kind; }
  bool at_symbol(std::string_view symbol) const { return at(Kind::symbol) && here().text == symbol; }
  bool at_name(std::string_view name) const { return at(Kind::name) && here().text == name; }
  std::string take() { return tokens_[std::min(at_++, tokens_.size() - 1)].text; }
  bool skip_symbol(std::string_view symbol) { return at_symbol(symbol) && (take(), true); }
  bool skip_name(std::string_view name) { return at_name(name) && (take(), true); }
  std::string found() const {
    if (at(Kind::end)) return "the end of the template";
    if (at(Kind::block_end) || at(Kind::output_end)) return "the end of the block";
    return fmt::format("'{}'", printable_line(cut_text(here().text, 40)));
  }
  void expect_symbol(std::string_view symbol) {
    if (!skip_symbol(symbol)) fail(fmt::format("expected '{}', found {}", symbol, found()));
  }
  void expect_name(std::string_view name) {
    if (!skip_name(name)) fail(fmt::format("expected '{}', found {}", name, found()));
  }
  void expect(Kind kind) {
    if (!at(kind)) fail(fmt::format("expected the end of the block, found {}", found()));
    take();
  }
  std::string take_name() {
    if (!at(Kind::name)) fail(fmt::format("expected a name, found {}", found()));
    return take();
  }

  // Statements.
  // Parses up to a block that begins with one of `ends`. Skips its block_begin, but not its name.
  Body parse_body(const std::vector<std::string_view>& ends) {
    const Nesting nesting(*this);
    Body body;
    while (!at(Kind::end)) {
      const int line = here().line;
      if (at(Kind::block_begin)) {
        const auto& name = peek(1).text;
        if (std::find(ends.begin(), ends.end(), name) != ends.end()) {
          take();
          return body;
        }
        if (name.starts_with("end") || name == "else" || name == "elif") break;
      }
      body.push_back({line, parse_statement()});
    }
    if (!ends.empty()) fail(fmt::format("expected {{% {} %}}, found {}", ends.back(), found()));
    return body;
  }
  Body parse_block_body(std::string_view end) {
    expect(Kind::block_end);
    Body body = parse_body({end});
    close_block(end);
    return body;
  }
  void close_block(std::string_view end) {
    expect_name(end);
    if (end == "endmacro" && at(Kind::name)) take();  // the macro's name may stand here
    expect(Kind::block_end);
  }

  decltype(Statement::node) parse_statement() {
    if (at(Kind::data)) return DataStatement{Text(take())};
    if (at(Kind::output_begin)) {
      take();
      OutputStatement output{parse_tuple()};
      expect(Kind::output_end);
      return output;
    }
    take();
    return parse_block();
  }
  decltype(Statement::node) parse_block() {
    const std::string name = take_name();
    if (name == "if") return parse_if();
    if (name == "for") return parse_for();
    if (name == "set") return parse_set();
    if (name == "macro") return parse_macro();
    if (name == "filter") return parse_filter_block();
    if (name == "with") return parse_with();
    if (name == "generation") return GenerationStatement{parse_inner_body("endgeneration")};
    if (name == "break" || name == "continue") return parse_loop_control(name);
    fail(fmt::format("the statement '{}' is not known", printable_line(name)));
  }

  IfStatement parse_if() {
    IfStatement result;
    while (true) {
      ExpressionPtr condition = parse_tuple();
      expect(Kind::block_end);
      result.branches.emplace_back(std::move(condition), parse_body({"elif", "else", "endif"}));
      if (!skip_name("elif")) break;
    }
    if (skip_name("else"))
      result.branches.emplace_back(nullptr, parse_block_body("endif"));
    else
      close_block("endif");
    return result;
  }

  ForStatement parse_for() {
    ForStatement result;
    result.target = parse_target(false);
    expect_name("in");
    result.items = parse_tuple(false);
    if (at_name("recursive")) fail("a loop that is 'recursive' is not known");
    if (skip_name("if")) result.filter = parse_expression();
    if (at_name("recursive")) fail("a loop that is 'recursive' is not known");
    expect(Kind::block_end);
    ++loops_;
    ++inner_scopes_;
    result.body = parse_body({"else", "endfor"});
    --loops_;
    if (skip_name("else"))
      result.otherwise = parse_block_body("endfor");
    else
      close_block("endfor");
    --inner_scopes_;
    return result;
  }

  decltype(Statement::node) parse_loop_control(const std::string& name) {
    if (loops_ == 0) fail(fmt::format("'{}' stands outside of a loop", name));
    expect(Kind::block_end);
    if (name == "break") return BreakStatement{};
    return ContinueStatement{};
  }

  AssignmentTarget parse_target(bool may_be_attribute) {
    AssignmentTarget target;
    const bool brackets = skip_symbol("(");
    target.names.push_back(take_name());
    if (may_be_attribute && skip_symbol(".")) target.attribute = take_name();
    while (target.attribute.empty() && skip_symbol(",")) {
      target.unpacks = true;
      if (!at(Kind::name)) break;
      target.names.push_back(take_name());
    }
    if (brackets) expect_symbol(")");
    return target;
  }

  SetStatement parse_set() {
    SetStatement result;
    result.target = parse_target(true);
    if (skip_symbol("=")) {
      result.value = parse_tuple();
      expect(Kind::block_end);
      return result;
    }
    result.is_block = true;
    if (at_symbol("|")) result.value = parse_filters(nullptr);
    result.body = parse_inner_body("endset");
    return result;
  }

  std::unique_ptr<MacroStatement> parse_macro() {
    // A macro sees the variables of the template, but not those of an enclosing loop, which may have ended when the
    // macro is called.
    if (inner_scopes_ > 0) fail("a macro inside of a loop or another block is not known. Move it to the top");
    auto result = std::make_unique<MacroStatement>();
    result->name = take_name();
    expect_symbol("(");
    while (!skip_symbol(")")) {
      std::string parameter = take_name();
      ExpressionPtr standard = skip_symbol("=") ? parse_expression() : nullptr;
      result->parameters.emplace_back(std::move(parameter), std::move(standard));
      if (!at_symbol(")")) expect_symbol(",");
    }
    result->body = parse_inner_body("endmacro");
    return result;
  }

  FilterStatement parse_filter_block() {
    const int line = here().line;
    ExpressionPtr filter = parse_filter(nullptr, line);
    FilterStatement result{parse_filters(std::move(filter)), {}};
    result.body = parse_inner_body("endfilter");
    return result;
  }

  WithStatement parse_with() {
    WithStatement result;
    while (!at(Kind::block_end)) {
      AssignmentTarget target = parse_target(false);
      expect_symbol("=");
      result.assignments.emplace_back(std::move(target), parse_expression());
      if (!at(Kind::block_end)) expect_symbol(",");
    }
    result.body = parse_inner_body("endwith");
    return result;
  }

  // A body with its own variables, inside which break and continue cannot refer to an enclosing loop.
  Body parse_inner_body(std::string_view end) {
    const int loops = std::exchange(loops_, 0);
    ++inner_scopes_;
    Body body = parse_block_body(end);
    --inner_scopes_;
    loops_ = loops;
    return body;
  }

  // Expressions, from the lowest to the highest operator precedence.
  template <typename Node>
  static ExpressionPtr make(int line, Node node) {
    return std::make_unique<const TemplateExpression>(TemplateExpression{line, std::move(node)});
  }

  ExpressionPtr parse_expression() {
    Nesting nesting(*this);
    ExpressionPtr value = parse_or();
    while (at_name("if")) {
      nesting.deeper();
      const int line = here().line;
      take();
      ExpressionPtr condition = parse_or();
      ExpressionPtr otherwise = skip_name("else") ? parse_expression() : nullptr;
      value = make(line, ConditionalExpression{std::move(condition), std::move(value), std::move(otherwise)});
    }
    return value;
  }
  // Values separated by commas are a tuple. `conditional`: whether an `if` belongs to the expression.
  ExpressionPtr parse_tuple(bool conditional = true) {
    const int line = here().line;
    const auto parse_one = [&] { return conditional ? parse_expression() : parse_or(); };
    ExpressionPtr first = parse_one();
    if (!at_symbol(",")) return first;
    ListExpression tuple{{}, true};
    tuple.items.push_back(std::move(first));
    while (skip_symbol(",")) {
      if (at(Kind::block_end) || at(Kind::output_end) || at_symbol(")") || at_symbol("]") || at_name("in")) break;
      tuple.items.push_back(parse_one());
    }
    return make(line, std::move(tuple));
  }

  ExpressionPtr parse_or() { return parse_logic("or", &Parser::parse_and); }
  ExpressionPtr parse_and() { return parse_logic("and", &Parser::parse_not); }
  ExpressionPtr parse_logic(std::string_view word, ExpressionPtr (Parser::*parse_operand)()) {
    Nesting nesting(*this, 0);
    ExpressionPtr left = (this->*parse_operand)();
    while (at_name(word)) {
      nesting.deeper();
      const int line = here().line;
      take();
      ExpressionPtr right = (this->*parse_operand)();
      left = make(line, LogicExpression{word == "and", std::move(left), std::move(right)});
    }
    return left;
  }
  ExpressionPtr parse_not() {
    const int line = here().line;
    if (!skip_name("not")) return parse_comparison();
    const Nesting nesting(*this);
    return make(line, NotExpression{parse_not()});
  }

  ExpressionPtr parse_comparison() {
    const int line = here().line;
    ExpressionPtr first = parse_sum();
    std::vector<std::pair<Comparator, ExpressionPtr>> rest;
    while (const auto comparator = take_comparator()) rest.emplace_back(*comparator, parse_sum());
    if (rest.empty()) return first;
    return make(line, ComparisonExpression{std::move(first), std::move(rest)});
  }
  std::optional<Comparator> take_comparator() {
    constexpr std::array<std::pair<std::string_view, Comparator>, 6> kComparators = {
        {{"==", Comparator::equal},
         {"!=", Comparator::unequal},
         {"<", Comparator::less},
         {"<=", Comparator::less_equal},
         {">", Comparator::greater},
         {">=", Comparator::greater_equal}}};
    for (const auto& [symbol, comparator] : kComparators)
      if (skip_symbol(symbol)) return comparator;
    if (skip_name("in")) return Comparator::in;
    if (!at_name("not") || peek(1).kind != Kind::name || peek(1).text != "in") return std::nullopt;
    take();
    take();
    return Comparator::not_in;
  }

  using OperatorTable = std::vector<std::pair<std::string_view, BinaryOperator>>;
  ExpressionPtr parse_sum() {
    static const OperatorTable operators = {{"+", BinaryOperator::add}, {"-", BinaryOperator::subtract}};
    return parse_binary(operators, &Parser::parse_concatenation);
  }
  ExpressionPtr parse_concatenation() {
    static const OperatorTable operators = {{"~", BinaryOperator::concatenate}};
    return parse_binary(operators, &Parser::parse_product);
  }
  ExpressionPtr parse_product() {
    static const OperatorTable operators = {{"*", BinaryOperator::multiply},
                                            {"/", BinaryOperator::divide},
                                            {"//", BinaryOperator::floor_divide},
                                            {"%", BinaryOperator::modulo}};
    return parse_binary(operators, &Parser::parse_power);
  }
  ExpressionPtr parse_power() {
    static const OperatorTable operators = {{"**", BinaryOperator::power}};
    return parse_binary(operators, &Parser::parse_filtered_unary);
  }
  ExpressionPtr parse_binary(const OperatorTable& operators, ExpressionPtr (Parser::*parse_operand)()) {
    Nesting nesting(*this, 0);
    ExpressionPtr left = (this->*parse_operand)();
    while (true) {
      const auto found =
          std::find_if(operators.begin(), operators.end(), [this](const auto& o) { return at_symbol(o.first); });
      if (found == operators.end()) return left;
      nesting.deeper();
      const int line = here().line;
      take();
      ExpressionPtr right = (this->*parse_operand)();
      left = make(line, BinaryExpression{found->second, std::move(left), std::move(right)});
    }
  }

  ExpressionPtr parse_filtered_unary() { return parse_filters(parse_unary()); }
  ExpressionPtr parse_unary() {
    const int line = here().line;
    const bool negative = at_symbol("-");
    if (!negative && !at_symbol("+")) return parse_postfix(parse_primary());
    const Nesting nesting(*this);
    take();
    return parse_postfix(make(line, SignExpression{parse_unary(), negative}));
  }

  // Filters, tests and calls after an expression.
  ExpressionPtr parse_filters(ExpressionPtr value) {
    Nesting nesting(*this, 0);
    for (;; nesting.deeper()) {
      const int line = here().line;
      if (skip_symbol("|"))
        value = parse_filter(std::move(value), line);
      else if (skip_name("is"))
        value = parse_test(std::move(value), line);
      else if (at_symbol("("))
        value = make(line, CallExpression{std::move(value), parse_arguments()});
      else
        return value;
    }
  }
  ExpressionPtr parse_filter(ExpressionPtr input, int line) {
    FilterExpression filter{std::move(input), take_name(), {}};
    if (!is_filter(filter.name)) fail(fmt::format("the filter '{}' is not known", printable_line(filter.name)));
    if (at_symbol("(")) filter.arguments = parse_arguments();
    return make(line, std::move(filter));
  }
  ExpressionPtr parse_test(ExpressionPtr input, int line) {
    const bool negated = skip_name("not");
    TestExpression test{std::move(input), take_name(), {}};
    if (!is_test(test.name)) fail(fmt::format("the test '{}' is not known", printable_line(test.name)));
    if (at_symbol("("))
      test.arguments = parse_arguments();
    else if (begins_test_argument())
      test.arguments.positional.push_back(parse_postfix(parse_primary()));
    ExpressionPtr result = make(line, std::move(test));
    return negated ? make(line, NotExpression{std::move(result)}) : std::move(result);
  }
  bool begins_test_argument() const {
    if (at(Kind::name)) {
      constexpr std::array<std::string_view, 7> kOthers = {"else", "or", "and", "is", "if", "in", "not"};
      return std::find(kOthers.begin(), kOthers.end(), here().text) == kOthers.end();
    }
    return at(Kind::string) || at(Kind::integer) || at(Kind::real) || at_symbol("[") || at_symbol("{");
  }

  ArgumentExpressions parse_arguments() {
    ArgumentExpressions result;
    expect_symbol("(");
    while (!skip_symbol(")")) {
      if (at_symbol("*") || at_symbol("**")) fail("arguments with '*' are not known");
      if (at(Kind::name) && peek(1).kind == Kind::symbol && peek(1).text == "=") {
        std::string keyword = take();
        take();
        result.keywords.emplace_back(std::move(keyword), parse_expression());
      } else {
        if (!result.keywords.empty()) fail("an argument without a name follows one with a name");
        result.positional.push_back(parse_expression());
      }
      if (!at_symbol(")")) expect_symbol(",");
    }
    return result;
  }

  // Attributes, items, slices and calls.
  ExpressionPtr parse_postfix(ExpressionPtr value) {
    Nesting nesting(*this, 0);
    for (;; nesting.deeper()) {
      const int line = here().line;
      if (skip_symbol("."))
        value = parse_attribute(std::move(value), line);
      else if (skip_symbol("["))
        value = parse_item(std::move(value), line);
      else if (at_symbol("("))
        value = make(line, CallExpression{std::move(value), parse_arguments()});
      else
        return value;
    }
  }
  ExpressionPtr parse_attribute(ExpressionPtr object, int line) {
    if (at(Kind::integer)) return make(line, ItemExpression{std::move(object), parse_primary()});
    return make(line, AttributeExpression{std::move(object), take_name()});
  }
  ExpressionPtr parse_item(ExpressionPtr object, int line) {
    std::array<ExpressionPtr, 3> bounds;
    std::size_t colons = 0;
    while (!at_symbol("]")) {
      if (!at_symbol(":")) bounds[colons] = parse_tuple();
      if (!at_symbol(":")) break;
      if (++colons == bounds.size()) fail("a slice of more than three numbers");
      take();
    }
    expect_symbol("]");
    if (colons > 0)
      return make(line,
                  SliceExpression{std::move(object), std::move(bounds[0]), std::move(bounds[1]), std::move(bounds[2])});
    if (bounds[0] == nullptr) fail("an item without a key");
    return make(line, ItemExpression{std::move(object), std::move(bounds[0])});
  }

  ExpressionPtr parse_primary() {
    const int line = here().line;
    if (at(Kind::string)) return make(line, LiteralExpression{parse_strings()});
    if (at(Kind::integer)) return make(line, LiteralExpression{parse_integer()});
    if (at(Kind::real)) return make(line, LiteralExpression{parse_real()});
    if (skip_symbol("(")) return parse_brackets(line);
    if (skip_symbol("[")) return parse_list(line);
    if (skip_symbol("{")) return parse_dict(line);
    if (!at(Kind::name)) fail(fmt::format("expected a value, found {}", found()));
    return parse_name(line);
  }
  ExpressionPtr parse_name(int line) {
    const std::string name = take();
    if (name == "true" || name == "True") return make(line, LiteralExpression{true});
    if (name == "false" || name == "False") return make(line, LiteralExpression{false});
    if (name == "none" || name == "None") return make(line, LiteralExpression{Value()});
    return make(line, NameExpression{name});
  }
  Text parse_strings() {  // adjacent strings are concatenated
    Text text(take());
    while (at(Kind::string)) text.append(take());
    return text;
  }
  std::int64_t parse_integer() {
    const std::string& digits = here().text;
    std::int64_t number = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc())
      fail(fmt::format("the number {} has more than 64 bits", cut_text(digits, 40)));
    take();
    return number;
  }
  double parse_real() {
    const std::string digits = take();
    double number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
  }
  ExpressionPtr parse_brackets(int line) {
    if (skip_symbol(")")) return make(line, ListExpression{{}, true});
    ExpressionPtr value = parse_tuple();
    expect_symbol(")");
    return value;
  }
  ExpressionPtr parse_list(int line) {
    ListExpression list;
    while (!skip_symbol("]")) {
      list.items.push_back(parse_expression());
      if (!at_symbol("]")) expect_symbol(",");
    }
    return make(line, std::move(list));
  }
  ExpressionPtr parse_dict(int line) {
    DictExpression dict;
    while (!skip_symbol("}")) {
      ExpressionPtr key = parse_expression();
      expect_symbol(":");
      dict.entries.emplace_back(std::move(key), parse_expression());
      if (!at_symbol("}")) expect_symbol(",");
    }
    return make(line, std::move(dict));
  }

  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0, loops_ = 0, inner_scopes_ = 0;
};

}  // namespace

Body parse_template(std::string_view source) {
  if (source.size() > kMostSourceBytes) throw Error("line 1: it has more than {} bytes", kMostSourceBytes);
  return Parser(source).run();
}

}  // namespace agon::agents::jinja
