#include "env/vote.h"

#include <catch2/catch.hpp>

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

TEST_CASE("Boxes vote by overlap") {
  const std::string a = "[0,0,10,10]", near_a = "[0,0,10,9]", far = "[50,50,60,60]";
  CHECK(winning_vote({{far}, {a}, {near_a}}, true) == 1);
  CHECK(winning_vote({{far}, {a}, {near_a}}) == 0);  // as texts: all differ
  CHECK(winning_vote({{"none"}, {"none"}, {a}}, true) == 2);
  CHECK(winning_vote({{std::nullopt, 3}, {far}, {a}, {near_a}}, true) == 2);
  CHECK(winning_vote({{far, 3}, {a}, {near_a}}, true) == 0);
  CHECK(winning_vote({{"x"}, {"y"}, {"y"}}, true) == 1);
}
