#include "check_env.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/file.h"
#include "effort.h"
#include "toy_env.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

namespace {

std::string problems_of(Fault fault) {
  std::string text;
  for (const std::string& problem : check_env([fault] { return std::make_unique<ToyEnv>(fault); }, toy_info(), 2, 1))
    text += problem + "\n";
  return text;
}

std::string all_of(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += problem + "\n";
  return text;
}

}  // namespace

TEST_CASE("an env that keeps the contract has no problems") { CHECK(problems_of(Fault::nothing) == ""); }

TEST_CASE("every broken contract is told") {
  const std::vector<std::pair<Fault, std::string>> faults = {
      {Fault::random_start, "start it differently"},
      {Fault::steps_before_reset, "before the first reset"},
      {Fault::steps_after_end, "a step after the end is not refused"},
      {Fault::throws, "threw: toy: nothing written"},
      {Fault::reward_not_finite, "not finite"},
      {Fault::components_do_not_add_up, "do not add up"},
      {Fault::gives_gold_away, "holds the gold answer"},
      {Fault::shared_forks, "fork: "},
      {Fault::refusal_counts, "a refused action changes what follows"},
      {Fault::failed_reset_forgets, "failed reset: changes what follows"},
      {Fault::same_ids, "another task's"},
      {Fault::train_is_test, "in the train split too"},
      {Fault::no_prompt, "does not state the prompt"},
      {Fault::bad_demonstration, "demonstration: an action is refused"},
      {Fault::wrong_label, "labels the expert's step wrong"},
      {Fault::corruption_is_right, "corrupted by calculation counts as right"},
      {Fault::never_ends, "max_turns turns"},
      {Fault::no_last_task, "reset to a task that is not there throws no Error"},
      {Fault::rewards_refusal, "a refused action has a reward"},
      {Fault::bytes_in_info, "a text is not UTF-8"},
      {Fault::silent_end, "the end does not say whether it is a success"},
  };
  for (const auto& [fault, problem] : faults) {
    INFO(problem);
    CHECK_THAT(problems_of(fault), Contains(problem));
  }
}

TEST_CASE("every registered suite conforms") {
  for (const std::string& name : suite_names()) {
    if (Suite(name).info().takes_file) continue;
    for (int level = 1; level <= Suite(name).info().levels; ++level) {
      INFO(name << ", level " << level);
      CHECK(all_of(check_env(Suite(name, {.level = level}), test::rounds(4), 7)) == "");
    }
  }
}

TEST_CASE("jsonl conforms on pictures of one's own") {
  const auto folder = std::filesystem::temp_directory_path() / "agon-check-env-test";
  std::filesystem::create_directories(folder);
  std::string lines;
  for (int i = 0; i < 4; ++i) {
    const std::string picture = std::to_string(i) + ".png";
    save_image(Image(8, 8, std::vector<std::uint8_t>(192, static_cast<std::uint8_t>(i * 60))), folder / picture);
    lines += R"({"id": ")" + std::to_string(i) + R"(", "prompt": "How bright?", "images": [")" + picture +
             R"("], "answer": )" + std::to_string(i * 60) + R"(, "grader": "number"})" + "\n";
  }
  write_file_atomically(folder / "tasks.jsonl", lines);
  CHECK(all_of(check_env(Suite("jsonl", {.file = folder / "tasks.jsonl"}), 4, 7)) == "");
  std::filesystem::remove_all(folder);
}
