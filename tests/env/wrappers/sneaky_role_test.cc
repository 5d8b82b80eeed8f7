#include "env/wrappers/sneaky_role.h"

#include <catch2/catch.hpp>
#include <map>

#include "env/suite.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

namespace {

struct Shown {
  std::string before, step;
};

Shown shown_in(const Observation& observation) {
  std::string text;
  for (const Part& part : observation.parts) text += part.text;
  const std::size_t step = text.rfind("\n\n## Correct Step\n"), partial = text.rfind("## Partial Solution\n") + 20;
  Shown shown{text.substr(partial, step - partial), text.substr(step + 18)};
  if (shown.before == "Let's solve this problem.") shown.before.clear();
  return shown;
}

}  // namespace

TEST_CASE("sneaky: type, explanation and step, and what is none") {
  const SneakyStep said = parse_sneaky("Hm.\n<type> misread_value </type>\n\nRed is 4.\n\n<step>\nred is 5\n</step>\n");
  CHECK(said.fault.empty());
  CHECK(said.kind == ErrorKind::misread_value);
  CHECK(said.explanation == "Red is 4.");
  CHECK(said.step == "red is 5");
  const SneakyStep again = parse_sneaky(sneaky_text(ErrorKind::calculation, "", "1 + 1 = 3"));
  CHECK((again.fault.empty() && again.kind == ErrorKind::calculation && again.explanation.empty()));
  CHECK(again.step == "1 + 1 = 3");
  CHECK(parse_sneaky("<type>calculation</type><step>a</step> or <step>b</step>").step == "b");
  for (const auto& [text, fault] : std::map<std::string, std::string>{
           {"", "no <type>"},
           {"<type>calculation<step>a</step>", "no <type>"},
           {"<type>calculation</type> a", "no <step>"},
           {"<type>calculation</type><step>a", "no <step>"},
           {"<step>a</step><type>calculation</type>", "before </type>"},
           {"<type>calculation</type><step> </step>", "empty"},
           {"<type>calculation</type><step>a\n\nb</step>", "several paragraphs"},
           {"<type>lie</type><step>a</step>", "'lie' is no kind of error"},
       })
    CHECK_THAT(parse_sneaky(text).fault, Contains(fault));
}

TEST_CASE("sneaky: the expert's steps are wrong in every way, a step that stays right is worth nothing") {
  for (const char* suite : {"charts", "shapes"}) {
    const auto env = make_env(suite, {.role = "sneaky"});
    const auto solver = make_env(suite);
    std::map<std::string, int> types;
    Rng rng = Rng::derive(1, "sneaky", "test");
    for (std::uint64_t index = 0; index < 200; ++index) {
      const StepResult first = env->reset({Split::train, index, 3});
      solver->reset({Split::train, index, 3});
      const Shown shown = shown_in(first.observation);
      REQUIRE(solver->check_step({shown.before, shown.step}).has_value());
      CHECK(solver->check_step({shown.before, shown.step})->correct);
      CHECK(first.observation.parts[1].is_image());
      const std::string expert = env->demonstrate(rng).value().front().text;
      const StepResult right = env->fork()->step(*env->mistake(rng)), wrong = env->fork()->step({expert, {}});
      CHECK((right.terminated && right.reward.total == 0 && right.success == false));
      CHECK((wrong.terminated && wrong.reward.total == 1 && wrong.success == true));
      const std::string step = wrong.info["sneaky_step"];
      CHECK_FALSE(solver->check_step({shown.before, step})->correct);
      ++types[wrong.info["sneaky_type"]];
    }
    INFO(suite);
    CHECK(types.size() >= 3);
    const StepResult none = env->step({"well", {}});
    CHECK((none.reward.total == 0 && none.info.contains("invalid_sneaky")));
    CHECK(env->step({"well", {}}).refused.has_value());
  }
}
