#include "cli/flags/old_names.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags/usage.h"

namespace agon::cli {
namespace {

struct Parsed {
  std::string model;
  int samples = 5;
  std::size_t models = 0;
  std::string error;
};

// The values that a command with the flags --reward-model (required), --samples and --orders (needs --reward-model)
// reads.
Parsed parsed(std::vector<std::string> arguments) {
  Parsed result;
  int orders = 0;
  CLI::App app("test", "agon");
  CLI::App* run = app.add_subcommand("run", "");
  CLI::Option* model = run->add_option("--reward-model", result.model, "")->required();
  run->add_option("--samples", result.samples, "")->check(whole_number_in(1, 8));
  run->add_option("--orders", orders, "")->needs(model);
  add_old_name(*run, "--rm", "--reward-model");
  add_old_name(*run, "--n", "--samples");
  run->callback([&] { result.models = run->count("--reward-model"); });
  arguments.insert(arguments.begin(), "run");
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 takes
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    result.error = error.what();
  }
  return result;
}

TEST_CASE("an old name sets what the new one sets, and counts as it") {
  const Parsed result = parsed({"--rm", "a", "--n=3", "--orders", "2"});
  CHECK(result.error.empty());
  CHECK((result.model == "a" && result.samples == 3 && result.models == 1));
  CHECK(parsed({"--orders", "2", "--rm=b"}).model == "b");
}

TEST_CASE("an old name is checked as the new one is, and both are one too many") {
  CHECK_THAT(parsed({"--rm", "a", "--n", "9"}).error,
             Catch::Contains("--samples: '9' is not a whole number from 1 to 8"));
  CHECK_THAT(parsed({"--n", "3"}).error, Catch::Contains("--reward-model is required"));
  CHECK_THAT(parsed({"--rm", "a", "--reward-model", "b"}).error, Catch::Contains("--reward-model"));
  CHECK_THAT(parsed({"--reward-model", "b", "--rm", "a"}).error, Catch::Contains("--reward-model"));
}

}  // namespace
}  // namespace agon::cli
