// env/grading/rules/answer_rule.h - the base class of grading rules: a rule reads the answer in a response and compares
// it with gold. The rules are in the same folder; env/grading/grader.h lists them by name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "env/grading/answer/number/number.h"
#include "env/grading/answer/part.h"
#include "env/grading/box.h"
#include "env/grading/grade_options.h"
#include "env/grading/gui_action.h"

namespace agon::env {

// An answer as its rule has read it.
struct AnswerReading {
  std::string shown;               // what was read; empty: nothing
  std::string fault;               // why nothing was read
  std::vector<std::string> forms;  // texts: the answer, then other readings; any of them may equal gold
  std::string raw;
  Number number;
  std::size_t option = 0;
  Box place;
  GuiAction action;
  bool found() const { return fault.empty(); }
};
AnswerReading not_read(std::string fault);

struct RuleScore {
  double reward = 0;
  std::string why;
  std::string read;  // the form of the answer that equals gold; empty: AnswerReading::shown
};

// One grading rule with its gold. REQUIRES: take_gold is called before compare; read and same need no gold.
class AnswerRule {
 public:
  virtual ~AnswerRule() = default;
  virtual void take_gold(const Json& gold) = 0;
  virtual RuleScore compare(const AnswerReading& answer) const = 0;
  virtual bool same(const AnswerReading& a, const AnswerReading& b) const = 0;
  virtual std::string description() const = 0;

  // `part`: the part of the response that counts. REQUIRES: it is not empty.
  virtual AnswerReading read(const AnswerPart& part) const = 0;

  std::string grader;
  GradeOptions options;

 protected:
  [[noreturn]] void throw_bad_gold(const Json& gold, const std::string& wanted) const;
  // The gold answers as texts: a string, a number, or several.
  std::vector<std::string> gold_texts(const Json& gold) const;
};

std::string shown_answer(std::string_view text);  // for messages: one line, cut if it is long

}  // namespace agon::env
