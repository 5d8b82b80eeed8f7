#include "critic/plain_critics.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "env/protocol.h"
#include "env/suite.h"

using namespace agon;
using namespace agon::critic;

TEST_CASE("plain critics: the oracle says what the suite says") {
  const auto env = env::make_env("charts");
  env->reset({env::Split::test, 3});
  Rng rng = Rng::derive(1, "plain critics", "oracle");
  const std::string text = env->demonstrate(rng).value().front().text;
  const env::Span first = env::split_steps(text).front();
  const std::string right(first.of(text));
  const auto wrong = env->corrupt_step({"", right}, env::ErrorKind::misread_value, rng);
  REQUIRE(wrong);
  const StepInContext steps[] = {{{}, "", right, env.get()}, {{}, "", *wrong, env.get()}, {{}, "", right, nullptr}};
  const auto verdicts = make_oracle_critic()->judge(steps);
  REQUIRE(verdicts.size() == 3);
  CHECK((verdicts[0].judgement == Judgement::correct && verdicts[0].probability == 1));
  CHECK((verdicts[1].judgement == Judgement::incorrect && verdicts[1].probability == 0));
  CHECK((verdicts[2].judgement == Judgement::unknown && !verdicts[2].probability));
}

TEST_CASE("plain critics: chance is drawn from the place, and a constant is one") {
  const StepInContext one{{Message::of(Role::user, "q")}, "a", "b"}, other{{Message::of(Role::user, "q")}, "", "ab"};
  const StepInContext both[] = {one, other}, turned[] = {other, one};
  const auto critic = make_random_critic(5);
  const auto first = critic->judge(both), second = critic->judge(turned);
  CHECK(first[0].probability == second[1].probability);
  CHECK(first[0].probability != first[1].probability);
  CHECK(make_random_critic(6)->judge(both)[0].probability != first[0].probability);
  CHECK(make_constant_critic(0.5)->judge(both)[1].judgement == Judgement::correct);
  CHECK(make_constant_critic(0.49)->judge(both)[1].judgement == Judgement::incorrect);
  CHECK_THROWS_AS(make_constant_critic(1.5), Error);
}
