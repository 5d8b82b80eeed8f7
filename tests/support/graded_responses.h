// tests/support/graded_responses.h - checks that a grader accepts some responses and rejects others.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "env/grading/grade_options.h"
#include "env/grading/grader.h"

namespace agon::test {

using Responses = std::vector<std::string>;
using Options = std::vector<std::string>;

inline void check(const env::Grader& grader, const Responses& right, const Responses& wrong) {
  for (const std::string& response : right) {
    const env::Grade grade = grader.judge(response);
    INFO(response << "\n" << grade.why);
    CHECK(grade.correct);
  }
  for (const std::string& response : wrong) {
    const env::Grade grade = grader.judge(response);
    INFO(response << "\n" << grade.why);
    CHECK_FALSE(grade.correct);
    CHECK(grade.reward < 1);
  }
}

// The grader that a line of a task file describes.
inline env::Grader grader_of(const std::string& name, const Json& gold, const Json& task) {
  return env::Grader(name, gold, env::grade_options_of(task));
}

}  // namespace agon::test
