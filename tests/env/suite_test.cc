#include "env/suite.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/error.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

TEST_CASE("suites are listed by name and tell what they are") {
  const std::vector<std::string> names = suite_names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::count(names.begin(), names.end(), "jsonl") == 1);
  for (const std::string& name : names) {
    INFO(name);
    const SuiteInfo info = Suite(name).info();
    CHECK(info.name == name);
    CHECK_FALSE(info.description.empty());
    CHECK_FALSE(info.instructions.empty());
    CHECK_FALSE(info.metric.empty());
    CHECK(info.default_level >= 1);
    CHECK(info.default_level <= info.levels);
    CHECK(info.max_turns >= 1);
    CHECK(info.observation_schema["type"] == "object");
    CHECK(info.action_schema["type"] == "object");
    CHECK(std::is_sorted(info.object_classes.begin(), info.object_classes.end()));
  }
}

TEST_CASE("an unknown suite is told with the nearest, a level with its range") {
  CHECK_THROWS_WITH(make_env("jsnl"), Contains("no 'jsnl'") && Contains("Did you mean 'jsonl'?"));
  CHECK_THROWS_WITH(Suite("nothing-like-it"), Contains("There are:") && Contains("jsonl"));
  for (const std::string& name : suite_names())
    for (int level : {-1, Suite(name).info().levels + 1})
      CHECK_THROWS_WITH(Suite(name, {.level = level}), Contains("no level " + std::to_string(level)) &&
                                                           Contains("1.." + std::to_string(Suite(name).info().levels)));
}
