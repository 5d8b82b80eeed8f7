// env/grading/rules/answer_rule.h - how one grader reads answers and compares them. The rules are in the same folder;
// env/grading/grader.h names them.
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
  std::vector<std::string> forms;  // texts: the answer, then other ways to see it, which count where they are equal
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
  std::string read;  // the form of the answer that equals gold, where it is not the one shown
};

// Its gold is taken before anything is compared.
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

std::string shown_answer(std::string_view text);  // in a message: a line, and not all of what is long

}  // namespace agon::env
