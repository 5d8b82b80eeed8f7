#include "cli/flags/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

namespace agon::cli {
namespace {

// The message for a command line of an app with the subcommand `run`, which has a flag and a required option.
std::string message_of(std::vector<std::string> arguments) {
  CLI::App app("test", "agon");
  CLI::App* run = app.add_subcommand("run", "");
  int tasks = 0;
  std::string suite;
  run->add_option("--tasks", tasks, "");
  run->add_option("--suite", suite, "")->required();
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 takes
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return usage_message(app, error);
  }
  return "";
}

TEST_CASE("an unknown flag is answered with the nearest one of its subcommand") {
  const std::string message = message_of({"run", "--tsks", "3", "--suite", "charts"});
  CHECK_THAT(message, Catch::Contains("no '--tsks'. Did you mean '--tasks'?"));
  CHECK_THAT(message, Catch::EndsWith("Run 'agon run --help' for the usage."));
}

TEST_CASE("the value written with an unknown flag is no part of its name") {
  CHECK_THAT(message_of({"run", "--task=3", "--suite", "charts"}),
             Catch::Contains("no '--task'. Did you mean '--tasks'?"));
}

TEST_CASE("an unknown flag is named before what is missing because of it") {
  CHECK_THAT(message_of({"run", "--suit", "charts"}), Catch::Contains("Did you mean '--suite'?"));
}

TEST_CASE("an unknown subcommand is answered with the nearest one") {
  const std::string message = message_of({"rnu"});
  CHECK_THAT(message, Catch::Contains("no 'rnu'"));
  CHECK_THAT(message, Catch::Contains("run"));
  CHECK_THAT(message, Catch::EndsWith("Run 'agon --help' for the usage."));
}

TEST_CASE("an argument too many, a missing option and a bad value are told") {
  CHECK_THAT(message_of({"run", "--suite", "charts", "more"}),
             Catch::Contains("takes no further argument, got 'more'"));
  CHECK_THAT(message_of({"run"}), Catch::Contains("--suite is required"));
  CHECK_THAT(message_of({"run", "--suite", "charts", "--tasks", "many"}), Catch::Contains("many"));
  CHECK(message_of({"run", "--suite", "charts"}).empty());
}

TEST_CASE("a name that a flag does not take is answered with those that it takes") {
  CLI::App app("test", "agon");
  std::string split = "test";
  app.add_option("--split", split, "")->check(one_of({"test", "train"}));
  std::vector<std::string> arguments{"--split=trian"};
  CHECK_THROWS_WITH(app.parse(arguments), Catch::Contains("--split: 'trian' is not one of test, train"));
  app.clear();
  arguments = {"--split=train"};
  app.parse(arguments);
  CHECK(split == "train");
}

TEST_CASE("a number is taken as it is written or refused") {
  const auto number = number_in(0, 1);
  for (const char* good : {"0", "0.5", "1", "1e-3"}) CHECK(number(good).empty());
  for (const char* bad : {"nan", "inf", "-0.1", "1.01", "0.5x", "", "1e999"})
    CHECK_THAT(number(bad), Catch::Contains("'" + std::string(bad) + "' is not a number from 0 to 1"));
  const auto seed = whole_number_in(0, ~std::uint64_t{0});
  for (const char* good : {"0", "7", "18446744073709551615"}) CHECK(seed(good).empty());
  for (const char* bad : {"-1", "18446744073709551616", "1.0", "1e3", " 1", "", "0x10"}) CHECK_FALSE(seed(bad).empty());
  CHECK(whole_number_in(1, 8)("0") == "'0' is not a whole number from 1 to 8");
}

}  // namespace
}  // namespace agon::cli
