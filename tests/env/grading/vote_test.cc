#include "env/grading/vote.h"

#include <catch2/catch.hpp>

#include "env/grading/grader.h"

using namespace agon::env;

TEST_CASE("Answers vote by their value or their words, in order of weight") {
  CHECK_FALSE(winning_vote({}));
  CHECK(winning_vote({{"7"}}) == 0);
  CHECK(winning_vote({{"8"}, {"7"}, {"7.0"}}) == 1);
  CHECK(winning_vote({{"red"}, {"The red."}, {"blue"}}) == 0);
  CHECK(winning_vote({{"blue"}, {"red"}}) == 0);  // a tie
  CHECK(winning_vote({{"blue", 0.2}, {"red", 0.9}, {"blue", 0.6}}) == 1);
  CHECK(winning_vote({{std::nullopt, 3}, {"blue"}, {"red"}, {"red"}}) == 2);
  CHECK_FALSE(winning_vote({{std::nullopt}}));
  CHECK(winning_vote({{"zebra"}, {"ant"}, {"zebra"}, {"ant"}}) == 0);
  CHECK(winning_vote({{"blue", 0.4}, {"red", 0.9}, {"blue", 0.6}}) == 0);
}

TEST_CASE("The task's own grader says which answers are equal") {
  const auto winner = [](const std::vector<Vote>& votes, const std::string& grader, agon::Json task = {}) {
    return winning_vote(votes, grading_of(grader, task));
  };
  const agon::Json animals = {{"options", {"cat", "dog", "cow"}}};
  CHECK(winner({{"C"}, {"(b)"}, {"dog"}, {"cow"}, {"Option B is correct"}}, "choice", animals) == 1);
  CHECK(winner({{"5"}, {"\\boxed{30}"}, {"30^\\circ"}, {"x = 30"}}, "number") == 1);
  CHECK(winner({{"5"}, {"100"}, {"103"}}, "number", {{"tolerance", 0.05}}) == 1);
  CHECK(winner({{"5"}, {"100"}, {"103"}}, "number") == 0);
  CHECK(winner({{"3.14"}, {"314"}, {"314"}}, "normalized") == 1);
  CHECK(winner({{"[9,9,12,12]"}, {"[0,0,10,10]"}, {"(0,0),(10,9)"}}, "iou") == 1);
  CHECK(winner({{"wait()"}, {"click(1,2)"}, {"CLICK <point>[[2,2]]</point>"}}, "gui_step") == 1);
  CHECK(winner({{"5"}, {"unsure"}, {"unsure"}}, "number") == 0);  // answers that it cannot read have no vote
  CHECK(winner({{"x"}, {"unsure"}, {"unsure"}}, "number") == 1);  // unless it can read none
}

TEST_CASE("An empty answer is never a side") {
  CHECK(winning_vote({{""}, {" "}, {""}, {"7"}}) == 3);
  CHECK_FALSE(winning_vote({{""}, {" "}}));
  CHECK(winning_vote({{""}, {""}, {"7"}}, grading_of("exact", {})) == 2);
  CHECK_FALSE(winning_vote({{""}, {"\n"}}, grading_of("number", {})));
}

TEST_CASE("Boxes vote by overlap") {
  const std::string a = "[0,0,10,10]", near_a = "[0,0,10,9]", far = "[50,50,60,60]";
  CHECK(winning_vote({{far}, {a}, {near_a}}, true) == 1);
  CHECK(winning_vote({{far}, {a}, {near_a}}) == 0);  // compared as texts, all differ
  CHECK(winning_vote({{"none"}, {"none"}, {a}}, true) == 2);
  CHECK(winning_vote({{std::nullopt, 3}, {far}, {a}, {near_a}}, true) == 2);
  CHECK(winning_vote({{far, 3}, {a}, {near_a}}, true) == 0);
  CHECK(winning_vote({{"x"}, {"y"}, {"y"}}, true) == 1);
}
