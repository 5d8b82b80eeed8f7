// Properties of every grader: the gold that it accepts, the explanation of its grades, and its running time.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/error.h"
#include "cpu_time.h"
#include "env/grading/grader.h"
#include "graded_responses.h"

using namespace agon;
using namespace agon::env;
using namespace agon::test;
using Catch::Contains;

TEST_CASE("a gold that fits no option, or two, is refused") {
  CHECK_THROWS_WITH(Grader("choice", "cat", Options{"cat", "dog", "cat"}), Contains("fits two options"));
  CHECK_THROWS_WITH(Grader("choice", "A", Options{"B", "A"}), Contains("fits two options"));
  CHECK_THROWS_WITH(Grader("choice", "Cat", Options{"cat", "CAT"}), Contains("fits two options"));
  CHECK_NOTHROW(Grader("choice", "A", Options{"A", "B"}));
  CHECK_NOTHROW(Grader("choice", "cat", Options{"cat", "CAT"}));
  CHECK_THROWS_WITH(Grader("choice", "cow", Options{"cat", "dog"}), Contains("2 options"));
  for (const char* name : {"exact", "normalized", "f1", "number"}) {
    CHECK_THROWS_AS(Grader(name, ""), Error);
    CHECK_THROWS_AS(Grader(name, " \n"), Error);
    CHECK_THROWS_AS(Grader(name, Json{"x", ""}), Error);
  }
}

TEST_CASE("the answer of a JSON object, whatever else it holds") {
  check({"number", 5},
        {R"({"answer":5,"confidence":0.9})", R"({"steps":[1,7],"answer":5})", "```json\n{\"answer\": 5, \"x\": 3}\n```",
         "So:\n{\"answer\": \"5 cm\", \"n\": 2}"},
        {R"({"answer":6,"confidence":5})"});
  check({"normalized", "blue"},
        {R"({"answer": "blue", "confidence": 0.9})", "```json\n{\n \"answer\" : \"blue\",\n \"c\": 0.9\n}\n```"},
        {R"({"answer": "red", "other": "blue"})"});
  check({"choice", "London", {"Paris", "London"}}, {R"({"answer":"London","explanation":"Paris is in France"})"},
        {R"({"answer":"Paris","explanation":"not London"})"});
  check({"iou", {1, 2, 30, 40}}, {R"({"bbox_2d":[1,2,30,40],"answer":"cat"})"}, {});
}

TEST_CASE("a grade says how it came to be") {
  const Grade right = Grader("number", 30).judge("<answer>x = 30 cm</answer>");
  CHECK(right.extracted == "30");
  CHECK_THAT(right.why, Contains("30 equals the gold answer 30"));
  REQUIRE(right.steps.size() == 4);
  CHECK_THAT(right.steps[0], Contains("<answer>"));
  const Grade none = Grader("number", 30).judge("3 or 4");
  CHECK_FALSE(none.extracted);
  CHECK_THAT(none.why, Contains("no number, or more than one"));
  CHECK(Grader("choice", "B", Options{"x", "y"}).judge("(B)").extracted == "B");
  // If there are several readings, the one that equals gold counts: here the last line, not the phrase before it.
  const Grade line = Grader("normalized", "blue").judge("The answer is red.\nblue");
  CHECK((line.correct && line.extracted == "blue"));
  CHECK(Grader("normalized", "green").judge("The answer is red.\nblue").extracted == "red");
  CHECK_THAT(Grader("exact", "x").judge("<answer></answer>").why, Contains("empty"));
}

TEST_CASE("time to grade is linear in the response, whatever it is made of") {
  const std::vector<Grader> graders = {{"exact", "x"},
                                       {"normalized", "x"},
                                       {"number", 3},
                                       {"f1", "a b c"},
                                       {"choice", "A", {"x", "b"}},
                                       {"iou", {0, 0, 9, 9}},
                                       {"point_in_box", {0, 0, 9, 9}},
                                       {"gui_step", "WAIT"}};
  for (const char* piece : {"{",           "}",
                            "1",           "1 ",
                            "1,",          "[",
                            "(",           "[1,2],",
                            "\\boxed{",    "\\frac{",
                            "\\frac",      "$",
                            "$1",          "*",
                            "**a",         "`",
                            "_a ",         "answer is ",
                            "answer: 1. ", "<answer>",
                            "</answer>",   "<think>",
                            "\\text{",     "A ",
                            "(A) ",        "option ",
                            "1e9",         "10^",
                            "\xCC\x81",    "\xCC\xA7\xCC\x81",
                            "\xff",        "= ",
                            "is ",         "<",
                            "\\",          "#",
                            "\"",          "click(",
                            "action:",     "\n",
                            ". ",          "a b. ",
                            "at x = 1, ",  "Actually, no. ",
                            "it is x, ",   "(0,0) top "}) {
    for (const Grader& grader : graders) {
      CHECK(faster_than_linear(piece, [&](const std::string& text) {
              const double reward = grader.grade(text);
              CHECK((reward >= 0 && reward <= 1));
            }) == "");
    }
  }
}
