// Budgets, journals, and misbehaving policies and critics.
#include <catch2/catch.hpp>

#include "effort.h"
#include "fixtures/search.h"
#include "record/journal_entry.h"

using namespace agon;
using namespace agon::critic;
using test::Branch;

namespace {

constexpr Method kAllMethods[] = {Method::greedy,   Method::best_of_n, Method::majority,     Method::weighted_majority,
                                  Method::guided,   Method::beam,      Method::diverse_beam, Method::mcts,
                                  Method::particles};

MethodOptions small(Method method) { return {.method = method, .n = 3, .width = 2, .attempts = 3}; }

Branch two_steps() {
  Branch root;
  root.next = {{"one", 0.9, {{"<answer>a</answer>", 0.9, {}}}}};
  return root;
}

// Gives the same answer to every request.
class Parrot : public agents::Policy {
 public:
  Parrot(std::string text, std::string stop) : text_(std::move(text)), stop_(std::move(stop)) {}
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> all;
    for (const agents::CompletionRequest& request : requests) {
      agents::Completion& one = all.emplace_back();
      one.text = text_.substr(0, static_cast<std::size_t>(request.sampling.max_tokens));
      one.token_ids.assign(one.text.size(), 1);
      const bool cut = one.text.size() < text_.size() || text_.empty();
      one.finish_reason = cut ? agents::FinishReason::length : agents::FinishReason::stop;
      one.matched_stop = cut ? "" : stop_;
      written += std::ssize(one.token_ids);
      ++calls;
    }
    return all;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"parrot", false, false, false, 1 << 20}; }
  std::int64_t written = 0, calls = 0;

 private:
  std::string text_, stop_;
};

class SameVerdict : public StepCritic {
 public:
  explicit SameVerdict(Judgement judgement) : judgement_(judgement) {}
  std::vector<Verdict> judge(std::span<const StepInContext> steps, std::int64_t) override {
    return {steps.size(), Verdict{.judgement = judgement_, .fault = "so it is"}};
  }
  std::string name() const override { return "same"; }

 private:
  Judgement judgement_;
};

bool same(const test::Searched& a, const test::Searched& b) {
  return a.answer.node == b.answer.node && a.text == b.text && a.nodes == b.nodes &&
         a.spent.policy_tokens == b.spent.policy_tokens && a.spent.critic_tokens == b.spent.critic_tokens &&
         a.spent.env_steps == b.spent.env_steps && a.exhausted == b.exhausted &&
         a.answer.attempts == b.answer.attempts && a.answer.rejected == b.answer.rejected;
}

// Whether a turn was written to its end.
bool has_whole_turn(const test::Searched& searched) {
  for (const record::JournalEntry& entry : searched.journal)
    if (entry.kind == "write")
      for (const Json& step : entry.body.at("steps"))
        if (step.at("ends").get<bool>() && !step.at("cut").get<bool>()) return true;
  return false;
}

}  // namespace

TEST_CASE("Budgets hold to the token in 10,000 random searches") {
  constexpr int kRounds = test::rounds(10'000);
  Rng rng(11);
  int exhausted = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Branch root = test::random_tree(rng);
    test::TreePolicy policy(root);
    test::TreeCritic critic(root);
    test::SearchInput input{.method = small(kAllMethods[rng.between(0, 8)])};
    input.turns = rng.between(1, 2);
    if (rng.chance(0.7)) input.budget.policy_tokens = rng.between(0, 200);
    if (rng.chance(0.4)) input.budget.critic_tokens = rng.between(0, 60);
    if (rng.chance(0.3)) input.budget.env_steps = rng.between(0, 3);
    const std::int64_t steps_before = test::CountedEnv::steps();
    const auto result = test::search_once(&policy, &critic, input);
    INFO("round " << round << " " << to_string(input.method.method));
    REQUIRE(result.spent.policy_tokens == policy.written);
    REQUIRE(result.spent.critic_tokens == critic.written);
    REQUIRE(result.spent.env_steps == test::CountedEnv::steps() - steps_before);
    REQUIRE(policy.written <= input.budget.policy_tokens.value_or(kNoTokenLimit));
    REQUIRE(critic.written <= input.budget.critic_tokens.value_or(kNoTokenLimit));
    REQUIRE(result.spent.env_steps <= input.budget.env_steps.value_or(1 << 20));
    if (input.turns == 1 && !input.budget.env_steps && has_whole_turn(result)) REQUIRE(result.answer.node >= 0);
    exhausted += !result.exhausted.empty();
  }
  CHECK(exhausted > 0.3 * kRounds);
  CHECK(test::CountedEnv::alive() == 0);
}

TEST_CASE("A search that is cut at any entry of its journal goes on to the same end") {
  Rng rng(12);
  for (const Method method : kAllMethods) {
    const Branch root = test::random_tree(rng, 2);
    test::SearchInput input{.method = small(method)};
    input.turns = 2;
    if (rng.chance(0.5)) input.budget.policy_tokens = 150;
    test::TreeCritic critic(root);
    test::TreePolicy policy(root, false, test::Draws::by_seed);
    const auto whole = test::search_once(&policy, &critic, input);
    for (std::size_t cut = 0; cut <= whole.journal.size(); ++cut) {
      input.past.assign(whole.journal.begin(), whole.journal.begin() + static_cast<std::ptrdiff_t>(cut));
      INFO(to_string(method) << " cut at " << cut << " of " << whole.journal.size());
      if (cut == whole.journal.size()) {
        const auto replayed = test::search_once(nullptr, nullptr, input);
        REQUIRE(same(whole, replayed));
        REQUIRE(replayed.journal.size() == whole.journal.size());
        REQUIRE_FALSE(replayed.divergence);
      } else {
        test::TreePolicy rest(root, false, test::Draws::by_seed);
        const auto resumed = test::search_once(&rest, &critic, input);
        REQUIRE(same(whole, resumed));
        REQUIRE(resumed.journal.size() == whole.journal.size());
        REQUIRE_FALSE(resumed.divergence);
      }
      input.past.clear();
    }
  }
}

TEST_CASE("A journal says where a search that is run again goes another way") {
  const Branch root = two_steps();
  test::TreePolicy policy(root);
  test::TreeCritic critic(root);
  test::SearchInput input{.method = {.method = Method::guided}};
  input.past = test::search_once(&policy, &critic, input).journal;
  input.compare = true;
  test::TreePolicy again(root);
  CHECK_FALSE(test::search_once(&again, &critic, input).divergence);

  // Differences in a model's last digits do not count.
  const auto past = input.past;
  for (record::JournalEntry& entry : input.past) {
    if (entry.kind == "write")
      for (Json& step : entry.body.at("steps")) step.at("logprobs") = {-7};
    if (entry.kind == "judge")
      entry.body["verdicts"][0]["probability"] = entry.body["verdicts"][0]["probability"].get<double>() - 5e-4;
  }
  CHECK_FALSE(test::search_once(&again, &critic, input).divergence);
  for (record::JournalEntry& entry : input.past)
    if (entry.kind == "judge") entry.body["verdicts"][0]["probability"] = 0.7;
  const auto doubted = test::search_once(&again, &critic, input);
  REQUIRE(doubted.divergence);
  CHECK(doubted.divergence->kind == "judge");
  input.past = past;

  Branch other = two_steps();
  other.next[0].next[0].step = "<answer>b</answer>";
  test::TreePolicy changed(other);
  const auto diverged = test::search_once(&changed, &critic, input);
  REQUIRE(diverged.divergence);
  CHECK(diverged.divergence->kind == "write");
  CHECK(diverged.divergence->recorded.at("steps").at(0).at("text") == "<answer>a</answer>");
  CHECK(diverged.text == "one\n\n<answer>a</answer>");  // the journal wins

  input.method.method = Method::greedy;
  CHECK_THROWS_WITH(test::search_once(&again, &critic, input), Catch::Contains("other settings"));
}

TEST_CASE("A journal whose numbers index outside of it is refused") {
  const Branch root = two_steps();
  test::TreePolicy policy(root);
  test::TreeCritic critic(root);
  test::SearchInput input{.method = {.method = Method::guided}};
  const auto past = test::search_once(&policy, &critic, input).journal;
  for (const char* key : {"said", "parent", "line"})
    for (const char* number : {"6", "-1", "4294967296", "18446744073709551615", "9223372036854775808", "1e30"}) {
      CAPTURE(key, number);
      input.past = past;
      for (record::JournalEntry& entry : input.past)
        if (entry.kind == "write") entry.body.at("steps").at(0)[key] = Json::parse(number);
      CHECK_THROWS_WITH(test::search_once(&policy, &critic, input), Catch::Contains(fmt::format("'{}' is ", key)));
    }
  for (const char* number : {"-1", "18446744073709551615", "1e300"}) {
    CAPTURE(number);
    input.past = past;
    for (record::JournalEntry& entry : input.past)
      if (entry.kind == "judge") entry.body.at("verdicts").at(0)["tokens"] = Json::parse(number);
    CHECK_THROWS_WITH(test::search_once(&policy, &critic, input), Catch::Contains("'tokens' is "));
  }
}

TEST_CASE("Without a model a search ends where its journal does") {
  const Branch root = two_steps();
  test::TreePolicy policy(root);
  test::TreeCritic critic(root);
  test::SearchInput input{.method = {.method = Method::guided}};
  input.past = test::search_once(&policy, &critic, input).journal;
  input.past.resize(2);
  CHECK_THROWS_AS(test::search_once(nullptr, nullptr, input), JournalEnds);
}

TEST_CASE("Writing ahead of the verdict changes nothing but the time") {
  Rng rng(13);
  std::int64_t thrown_away = 0;
  for (int round = 0; round < test::rounds(100); ++round) {
    const Branch root = test::random_tree(rng);
    test::TreeCritic critic(root);
    test::SearchInput input{.method = {.method = Method::guided}};
    if (rng.chance(0.5)) input.budget.policy_tokens = rng.between(1, 120);
    // A tree of one line, since TreePolicy gives children in turn and speculation changes the order of requests.
    const Branch line = [&] {
      Branch single = root;
      Branch* at = &single;
      while (!at->next.empty()) at->next.resize(1), at = &at->next[0];
      return single;
    }();
    test::TreePolicy plain(line), ahead(line);
    const auto expected = test::search_once(&plain, &critic, input);
    input.speculate = true;
    const auto result = test::search_once(&ahead, &critic, input);
    REQUIRE(same(expected, result));
    REQUIRE(expected.spent.speculative_tokens == 0);
    REQUIRE(result.spent.policy_tokens + result.spent.speculative_tokens <= ahead.written);
    thrown_away += result.spent.speculative_tokens;
  }
  CHECK(thrown_away > 0);
}

TEST_CASE("A critic that finds everything wrong ends in an answer") {
  const Branch root = two_steps();
  for (const Method method : kAllMethods) {
    test::TreePolicy policy(root);
    SameVerdict critic(Judgement::incorrect);
    test::SearchInput input{.method = small(method)};
    input.budget.policy_tokens = 2000;
    const auto result = test::search_once(&policy, &critic, input);
    INFO(to_string(method));
    CHECK(result.text == "one\n\n<answer>a</answer>");
    CHECK(policy.written <= 2000);
  }
}

TEST_CASE("A budget that several trajectories would pass ends in an answer: random trees") {
  constexpr int kRounds = test::rounds(500);
  Rng rng(12);
  for (int round = 0; round < kRounds; ++round) {
    const Branch root = test::random_tree(rng);
    SameVerdict wrong(Judgement::incorrect);
    test::TreeCritic critic(root);
    for (const Method method : kAllMethods) {
      INFO("round " << round << " " << to_string(method));
      test::SearchInput input{.method = {.method = method}};
      const int tokens = method == Method::guided ? 5 * 40 : 4 * 40;  // three steps of at most 40 bytes
      input.budget.policy_tokens = tokens;
      test::TreePolicy policy(root);
      const auto rejected = test::search_once(&policy, &wrong, input);
      CHECK(rejected.answer.node >= 0);
      CHECK(policy.written <= tokens);
      input.budget = {.critic_tokens = rng.between(0, 30)};  // ends in the middle of a critique
      const auto unjudged = test::search_once(&policy, &critic, input);
      CHECK(unjudged.answer.node >= 0);
      CHECK(unjudged.spent.critic_tokens <= *input.budget.critic_tokens);
    }
  }
}

TEST_CASE("Trajectories that were begun side by side all get to their ends") {
  Branch root;
  root.next = {{"one", 0.9, {{"<answer>a</answer>", 0.9, {}}}}};
  for (const Method method : {Method::best_of_n, Method::majority, Method::weighted_majority}) {
    INFO(to_string(method));
    test::TreePolicy once(root), policy(root);
    test::TreeCritic critic(root);
    test::search_once(&once, &critic, {.method = {.method = method, .n = 1, .rank = Rank::min}});
    test::SearchInput input{.method = {.method = method, .n = 8, .rank = Rank::min}};
    input.budget.policy_tokens = 17 * once.written;  // half of what the first leaves is enough for seven more
    const auto searched = test::search_once(&policy, &critic, input);
    CHECK(policy.written == 8 * once.written);
    CHECK(searched.exhausted.empty());
  }
}

TEST_CASE("Whole answers that are written before the budget ends are played, and counted trajectories are whole") {
  Branch root;
  root.next = {{"<answer>a</answer><score>0.5</score>", 0.9, {}}};  // 36 tokens
  test::TreeCritic critic(root);
  for (const Method method : {Method::best_of_n, Method::majority, Method::weighted_majority}) {
    INFO(to_string(method));
    test::TreePolicy policy(root);
    test::SearchInput input{.method = {.method = method, .rank = Rank::min}};
    input.budget.policy_tokens = 3 * 36 + 5;
    const auto result = test::search_once(&policy, &critic, input);
    CHECK(result.text == root.next[0].step);
    CHECK(result.exhausted == "policy_tokens");
    CHECK(result.spent.env_steps == 3);
  }
}

TEST_CASE("A critique that the budget cuts is no verdict") {
  const Branch root = two_steps();
  test::TreePolicy policy(root);
  test::TreeCritic critic(root, 7);
  test::SearchInput input{.method = {.method = Method::guided}};
  input.budget.critic_tokens = 10;
  const auto result = test::search_once(&policy, &critic, input);
  CHECK(result.text == "one\n\n<answer>a</answer>");
  CHECK(result.exhausted == "critic_tokens");
  CHECK(result.spent.critic_tokens == 10);
  const auto verdicts = std::count_if(
      result.journal.begin(), result.journal.end(),
      [](const record::JournalEntry& entry) { return entry.kind == "judge" && !entry.body.at("verdicts").empty(); });
  CHECK(verdicts == 1);
}

TEST_CASE("A score ranks whole trajectories alone") {
  const Branch root = two_steps();
  test::TreePolicy policy(root);
  test::TreeCritic critic(root);
  for (const Method method : {Method::beam, Method::diverse_beam, Method::mcts}) {
    test::SearchInput input{.method = {.method = method, .rank = Rank::score}};
    CHECK_THROWS_WITH(test::search_once(&policy, &critic, input), Catch::Contains("a --rank other than score"));
  }
}

TEST_CASE("A critic that never parses rejects nothing and gives no rank") {
  const Branch root = two_steps();
  for (const Method method : kAllMethods) {
    test::TreePolicy policy(root);
    SameVerdict critic(Judgement::invalid);
    const auto result = test::search_once(&policy, &critic, {.method = small(method)});
    INFO(to_string(method));
    CHECK(result.text == "one\n\n<answer>a</answer>");
    if (method == Method::guided) CHECK(result.answer.attempts == std::map<int, int>{{1, 2}});
    if (method == Method::beam) CHECK(result.answer.unranked == 1);
  }
}

TEST_CASE("A policy without a blank line writes turns of one step, one of blank lines alone comes to its limit") {
  SameVerdict critic(Judgement::correct);
  for (const Method method : kAllMethods) {
    INFO(to_string(method));
    Parrot endless(std::string(1'000'000, 'x'), "");
    test::SearchInput input{.method = small(method)};
    input.max_tokens = 50;
    const auto one = test::search_once(&endless, &critic, input);
    CHECK(one.text == std::string(50, 'x'));

    Parrot blank("\n\n", "\n\n");
    const auto nothing = test::search_once(&blank, &critic, input);
    CHECK(nothing.text == std::string(50, '\n'));
    CHECK(blank.calls <= 25 * 6 * 6);

    Parrot again("again\n\n", "\n\n");
    input.max_tokens = 70;
    const auto repeated = test::search_once(&again, &critic, input);
    CHECK(repeated.text.size() == 70);  // the same step ten times

    Parrot silent("", "");
    CHECK(test::search_once(&silent, &critic, input).text.empty());
  }
}

TEST_CASE("A budget of nothing, and one that ends inside a step") {
  const Branch root = two_steps();
  test::TreeCritic critic(root);
  for (const Method method : kAllMethods) {
    INFO(to_string(method));
    test::SearchInput input{.method = small(method)};
    for (const auto& [budget, part] :
         {std::pair{Budget{.policy_tokens = 0}, "policy_tokens"}, std::pair{Budget{.env_steps = 0}, "env_steps"},
          std::pair{Budget{.wall_seconds = 0}, "wall"}, std::pair{Budget{.policy_tokens = 2}, "policy_tokens"}}) {
      input.budget = budget;
      test::TreePolicy policy(root);
      const auto result = test::search_once(&policy, &critic, input);
      CHECK(result.exhausted == part);
      CHECK(result.answer.node == -1);
    }
  }
}

TEST_CASE("Without a second for tools a turn that calls one is not played, and another is") {
  Branch call;
  call.next = {{"<search>q</search>", 0.9, {}}};
  const Branch answer = two_steps();
  for (const Method method : kAllMethods) {
    INFO(to_string(method));
    test::SearchInput input{.method = small(method)};
    input.budget.tool_seconds = 0;
    for (const auto& [root, part, text] :
         {std::tuple{&std::as_const(call), "tool_seconds", ""}, std::tuple{&answer, "", "one\n\n<answer>a</answer>"}}) {
      test::TreePolicy policy(*root);
      test::TreeCritic critic(*root);
      const auto result = test::search_once(&policy, &critic, input);
      CHECK(result.exhausted == part);
      CHECK(result.text == text);
    }
  }
}

TEST_CASE("Without a token for the critic a search is finished without it, and one that needs none does not ask") {
  const Branch root = two_steps();
  for (const Method method : kAllMethods) {
    INFO(to_string(method));
    test::SearchInput input{.method = small(method)};
    input.budget.critic_tokens = 0;
    test::TreePolicy policy(root);
    test::TreeCritic critic(root);
    const auto result = test::search_once(&policy, &critic, input);
    CHECK(critic.written == 0);
    CHECK(result.exhausted == (needs_critic(input.method) ? "critic_tokens" : ""));
    CHECK(result.text == "one\n\n<answer>a</answer>");
  }
}

TEST_CASE("Lines that go because the critic's tokens have ended were not rejected") {
  // Two lines of three steps. The verdicts on the first steps use up the tokens, so only one line gets its third step.
  Branch root;
  root.next = {{"a", 0.9, {{"aa", 0.9, {{"<answer>a</answer>", 0.9, {}}}}}},
               {"b", 0.8, {{"bb", 0.8, {{"<answer>b</answer>", 0.8, {}}}}}}};
  for (const Method method : {Method::beam, Method::diverse_beam}) {
    INFO(to_string(method));
    test::SearchInput input{.method = {.method = method, .n = 2, .width = 1}};
    input.budget.critic_tokens = 14;
    test::TreePolicy policy(root);
    test::TreeCritic critic(root);
    const auto result = test::search_once(&policy, &critic, input);
    CHECK(result.exhausted == "critic_tokens");
    CHECK(result.text == "a\n\naa\n\n<answer>a</answer>");
    CHECK(result.nodes == 1 + 2 + 2 + 1);
    CHECK(result.answer.rejected == 0);
  }
}

TEST_CASE("A call of a tool is one step, blank lines and all") {
  Parrot coder("<code>\na = 1\n\n", "\n\n");  // never closes the tag
  SameVerdict critic(Judgement::correct);
  test::SearchInput input{.method = {.method = Method::guided}};
  input.max_tokens = 40;
  const auto result = test::search_once(&coder, &critic, input);
  CHECK(result.nodes == 2);
  CHECK(result.text.size() == 40);
}

TEST_CASE("Branches own their envs, and a beam lets go of those that it has left") {
  Branch root;
  root.next = {{"a", 0.5, {}}, {"b", 0.6, {}}, {"c", 0.7, {}}};
  test::TreeCritic critic(root);
  test::TreePolicy policy(root);
  test::CountedEnv::most_alive() = 0;
  test::SearchInput input{.method = {.method = Method::beam, .n = 2, .width = 3}};
  input.turns = 40;
  const auto result = test::search_once(&policy, &critic, input);
  CHECK(result.answer.node > 0);
  CHECK(result.spent.env_steps == 2 * 40);
  CHECK(test::CountedEnv::most_alive() <= 6);
  CHECK(test::CountedEnv::alive() == 0);
}

TEST_CASE("A budget is written as its parts") {
  const Budget budget = parse_budget("policy_tokens=400, wall=1.5,env_steps=0");
  CHECK(budget.policy_tokens == 400);
  CHECK(budget.wall_seconds == 1.5);
  CHECK(budget.env_steps == 0);
  CHECK_FALSE(budget.critic_tokens);
  CHECK(to_json(budget).dump() == R"({"policy_tokens":400,"env_steps":0,"wall":1.5})");
  CHECK(to_json(parse_budget("")).empty());
  CHECK_THROWS_WITH(parse_budget("policy_token=4"), Catch::Contains("Did you mean 'policy_tokens'"));
  for (const char* bad :
       {"policy_tokens", "policy_tokens=", "policy_tokens=-1", "policy_tokens=1.5", "wall=nan", "wall=1x"})
    CHECK_THROWS_WITH(parse_budget(bad), Catch::Contains("gives no amount"));
  CHECK_THROWS_WITH(parse_budget("critic_tokens=99999999999999999999"), Catch::Contains("out of range"));
  CHECK_THROWS_WITH(parse_budget("wall=1,env_steps=2,wall=3"), Catch::Contains("'wall' is given twice"));
}

TEST_CASE("An account names what ended, and policy tokens where they only held something back") {
  Account account({.policy_tokens = 10, .critic_tokens = 10}, 0);
  CHECK(account.exhausted().empty());
  account.hold_back();
  CHECK(account.exhausted() == "policy_tokens");
  account.end(BudgetPart::critic_tokens);
  account.end(BudgetPart::wall);
  CHECK(account.exhausted() == "critic_tokens");
}

TEST_CASE("Text that is no UTF-8 comes through a journal") {
  for (const std::string text : {"plain", "\xc3\xa4", "\xff\x00", ""}) CHECK(text_of(text_json(text)) == text);
  CHECK(text_json("\xff").dump() == R"({"hex":"ff"})");
}
