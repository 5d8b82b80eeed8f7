// Runs the methods on trees whose best leaf is known: made by hand, or found by trying all leaves.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "effort.h"
#include "fixtures/search.h"

using namespace agon;
using namespace agon::critic;
using test::Branch;

namespace {

// The greedy path ends at "wrong", the best first step leads to "trap", and most leaves say "common".
Branch hand_made() {
  Branch root;
  root.next = {
      {"first",
       0.3,
       {{"<answer>wrong</answer><score>0.2</score>", 0.2, {}}, {"<answer>common</answer><score>0.3</score>", 0.3, {}}}},
      {"second",
       0.9,
       {{"<answer>trap</answer><score>0.4</score>", 0.1, {}}, {"<answer>common</answer><score>0.2</score>", 0.2, {}}}},
      {"third",
       0.8,
       {{"<answer>right</answer><score>0.9</score>", 0.9, {}},
        {"<answer>common</answer><score>0.1</score>", 0.1, {}}}}};
  return root;
}

std::string found(const MethodOptions& method) {
  const Branch root = hand_made();
  test::TreePolicy policy(root);
  test::TreeCritic critic(root);
  const auto answer = env::extract_answer(search_once(&policy, &critic, {.method = method}).text);
  return answer.value_or("none");
}

// The rank of every path to a leaf.
void all_ranks(const Branch& branch, Rank rank, std::vector<double> worths, std::vector<double>& ranks) {
  for (const Branch& child : branch.next) {
    std::vector<double> way = worths;
    way.push_back(child.worth);
    if (!child.next.empty()) {
      all_ranks(child, rank, way, ranks);
      continue;
    }
    double sum = 0, product = 1;
    for (const double worth : way) sum += worth, product *= worth;
    const double score = env::extract_score(child.step).value_or(-1);
    ranks.push_back(rank == Rank::score  ? score
                    : rank == Rank::min  ? *std::min_element(way.begin(), way.end())
                    : rank == Rank::mean ? sum / static_cast<double>(way.size())
                    : rank == Rank::last ? way.back()
                                         : product);
  }
}

double best_rank(const Branch& root, Rank rank) {
  std::vector<double> ranks;
  all_ranks(root, rank, {}, ranks);
  return *std::max_element(ranks.begin(), ranks.end());
}

// Makes several leaves give the same answer: the last letter of their paths.
void share_answers(Branch& branch) {
  for (Branch& child : branch.next) {
    if (child.next.empty()) child.step.erase(8, child.step.find("</answer>") - 9);
    share_answers(child);
  }
}

// How many of n trajectories reach each leaf (test::leaves) if the children of each node are written in turn.
void count_visits(const Branch& branch, int n, std::vector<int>& visits) {
  const int children = static_cast<int>(branch.next.size());
  for (int i = 0; i < children; ++i) {
    const Branch& child = branch.next[static_cast<std::size_t>(i)];
    const int here = n / children + (i < n % children);
    if (child.next.empty()) visits.push_back(here);
    count_visits(child, here, visits);
  }
}

}  // namespace

TEST_CASE("Each method finds the best leaf of a tree made by hand") {
  CHECK(found({.method = Method::greedy}) == "wrong");  // the other methods fix it
  CHECK(found({.method = Method::best_of_n, .n = 6, .rank = Rank::score}) == "right");
  CHECK(found({.method = Method::best_of_n, .n = 6, .rank = Rank::min}) == "right");
  CHECK(found({.method = Method::best_of_n, .n = 6, .rank = Rank::product}) == "right");
  CHECK(found({.method = Method::majority, .n = 6}) == "common");
  CHECK(found({.method = Method::weighted_majority, .n = 6, .rank = Rank::last}) == "right");
  CHECK(found({.method = Method::weighted_majority, .n = 6, .rank = Rank::score}) == "right");
  CHECK(found({.method = Method::beam, .n = 3, .width = 4, .rank = Rank::product}) == "right");
  CHECK(found({.method = Method::beam, .n = 1, .width = 6, .rank = Rank::last}) == "common");  // falls for the trap
  CHECK(found({.method = Method::diverse_beam, .n = 3, .width = 2, .rank = Rank::last}) == "right");
  CHECK(found({.method = Method::mcts, .n = 12, .width = 3, .rank = Rank::last}) == "right");
  CHECK(found({.method = Method::particles, .n = 60}) == "right");
}

TEST_CASE("The guided search writes a step again that the critic finds wrong") {
  // "first" (0.3) is rejected, then samples come in turn: "first", "second" (0.9); after it "trap", "trap", "common",
  // ...
  const Branch root = hand_made();
  test::TreePolicy policy(root);
  test::TreeCritic critic(root);
  const auto result =
      search_once(&policy, &critic, {.method = {.method = Method::guided, .attempts = 5, .keep = Keep::last}});
  CHECK(result.answer.attempts == std::map<int, int>{{3, 1}, {5, 1}});
  CHECK(result.answer.rejected == 2 + 4);
  CHECK(env::extract_answer(result.text) == "common");  // trap, trap, common, trap, common: the last is kept

  test::TreePolicy again(root);
  const auto best =
      search_once(&again, &critic, {.method = {.method = Method::guided, .attempts = 5, .keep = Keep::best}});
  CHECK(env::extract_answer(best.text) == "common");  // 0.2 before 0.1
}

TEST_CASE("With room for all leaves a method's choice is the best of them: random trees", "[long]") {
  Rng rng(7);
  for (int round = 0; round < test::rounds(100); ++round) {
    const Branch root = test::random_tree(rng);
    test::TreeCritic critic(root);
    for (const Rank rank : {Rank::min, Rank::mean, Rank::last, Rank::product, Rank::score}) {
      const double best = best_rank(root, rank);
      INFO("round " << round << " rank " << to_string(rank));
      for (const Method method : {Method::best_of_n, Method::beam, Method::mcts}) {
        if (rank == Rank::score && method != Method::best_of_n) continue;
        test::TreePolicy policy(root);
        const int n = method == Method::mcts ? 400 : 216;
        const auto result = search_once(&policy, &critic, {.method = {method, n, 3, 5, rank, Keep::last}});
        INFO(to_string(method));
        REQUIRE(result.rank);
        REQUIRE(*result.rank == Approx(best).margin(1e-12));
      }
    }
  }
}

TEST_CASE("A diverse beam goes the way of the best step, a guided search that of the first right one: random trees") {
  Rng rng(8);
  for (int round = 0; round < test::rounds(300); ++round) {
    const Branch root = test::random_tree(rng);
    test::TreeCritic critic(root);
    const Branch* best = &root;
    while (!best->next.empty())
      best = &*std::max_element(best->next.begin(), best->next.end(),
                                [](const Branch& a, const Branch& b) { return a.worth < b.worth; });
    test::TreePolicy policy(root);
    const auto line =
        search_once(&policy, &critic, {.method = {Method::diverse_beam, 1, 3, 5, Rank::last, Keep::last}});
    REQUIRE(line.text.ends_with(best->step));

    const Branch* kept = &root;
    while (!kept->next.empty()) {
      std::vector<const Branch*> tried = {&kept->next[0]};  // greedy, then in turn
      for (std::size_t i = 0; tried.back()->worth < 0.5 && tried.size() < 5; ++i)
        tried.push_back(&kept->next[i % kept->next.size()]);
      kept = tried.back();
    }
    test::TreePolicy other(root);
    const auto guided = search_once(&other, &critic, {.method = {.method = Method::guided, .keep = Keep::last}});
    REQUIRE(guided.text.ends_with(kept->step));
  }
}

TEST_CASE("What was rejected is not written again where the policy can tell: random trees") {
  Rng rng(9);
  int retried = 0;
  for (int round = 0; round < test::rounds(300); ++round) {
    const Branch root = test::random_tree(rng);
    test::TreeCritic critic(root);
    const Branch* kept = &root;  // the first of up to 3 children, then each other once
    std::map<int, int> attempts;
    while (!kept->next.empty()) {
      const auto right =
          std::find_if(kept->next.begin(), kept->next.end(), [](const Branch& b) { return b.worth >= 0.5; });
      const bool found = right != kept->next.end();
      const auto tried = found ? right - kept->next.begin() + 1 : std::ssize(kept->next);
      kept = found ? &*right : &kept->next.back();
      ++attempts[static_cast<int>(tried)];
      retried += tried > 1;
    }
    test::TreePolicy policy(root, true);
    test::SearchInput input{.method = {.method = Method::guided, .keep = Keep::last}};
    const auto result = search_once(&policy, &critic, input);
    for (const auto& entry : result.journal)
      if (entry.kind == "write" &&
          entry.body.at("steps")[0].at("text").get<std::string>().find("</answer>") != std::string::npos)
        REQUIRE(entry.body.at("steps")[0].at("said").get<int>() <
                std::ssize(entry.body.at("steps")[0].at("ids")));  // the answer does not include its score
    const bool all_wrong = result.answer.attempts.contains(5);
    if (!all_wrong) {
      REQUIRE(result.text.ends_with(kept->step));
      REQUIRE(result.answer.attempts == attempts);
    }
    input.method.retry = Retry::independent;
    test::TreePolicy other(root, true), plain(root);
    CHECK(search_once(&other, &critic, input).text == search_once(&plain, &critic, input).text);
  }
  CHECK(retried > test::rounds(300) / 4);
}

TEST_CASE("The likeliest of all attempts weighs the critic's word against the policy's") {
  // A token has probability e^-0.5: "a" with its blank line has 0.22, "bbbb" 0.05.
  const auto kept = [](double of_a, double of_b) {
    Branch root;
    root.next = {{"a", of_a, {{"<answer>a</answer>", 1, {}}}}, {"bbbb", of_b, {{"<answer>b</answer>", 1, {}}}}};
    test::TreePolicy policy(root, true);
    test::TreeCritic critic(root);
    const auto result = search_once(&policy, &critic, {.method = {.method = Method::guided, .attempts = 2}});
    return *env::extract_answer(result.text);
  };
  CHECK(kept(0.9, 0.9) == "a");
  CHECK(kept(0.4, 0.9) == "a");  // rejected, but the alternative is too unlikely
  CHECK(kept(0.1, 0.9) == "b");
  CHECK(kept(0.1, 0.45) == "b");  // both rejected
  CHECK(kept(0, 0.5) == "b");
  CHECK(kept(0, 0) == "a");
}

TEST_CASE("Twins have one verdict and one vote") {
  Branch root;
  root.next = {{"only", 0.5, {{"<answer>a</answer>", 0.5, {}}}}};
  test::TreePolicy policy(root);
  test::TreeCritic critic(root);
  const auto result = search_once(&policy, &critic, {.method = {.method = Method::beam, .n = 2, .width = 4}});
  CHECK(critic.asked == 2);
  CHECK(result.spent.critic_tokens == 14);
  CHECK(result.text == "only\n\n<answer>a</answer>");
}

TEST_CASE("A trajectory without a rank is counted and comes last") {
  Branch root;
  root.next = {{"<answer>a</answer>", 1, {}}, {"<answer>b</answer><score>0.1</score>", 1, {}}};
  test::TreePolicy policy(root);
  const auto result =
      search_once(&policy, nullptr, {.method = {.method = Method::best_of_n, .n = 4, .rank = Rank::score}});
  CHECK(env::extract_answer(result.text) == "b");
  CHECK(result.answer.unranked == 2);
}

TEST_CASE("The answer of a vote has the most votes, or the most weight: random trees") {
  Rng rng(10);
  int several = 0;  // elections with more than one side
  for (int round = 0; round < test::rounds(300); ++round) {
    Branch root = test::random_tree(rng);
    share_answers(root);
    test::TreeCritic critic(root);
    const int n = rng.between(1, 12);
    std::vector<int> visits;
    count_visits(root, n, visits);
    for (const Rank rank : {Rank::min, Rank::mean, Rank::last, Rank::product, Rank::score}) {
      std::vector<double> ranks;
      all_ranks(root, rank, {}, ranks);
      const std::vector<const Branch*> leaves = test::leaves(root);
      std::map<std::string, double> votes, weights;
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (visits[i] == 0) continue;
        votes[*env::extract_answer(leaves[i]->step)] += visits[i];
        weights[*env::extract_answer(leaves[i]->step)] += visits[i] * ranks[i];
      }
      several += votes.size() > 1;
      for (const Method method : {Method::majority, Method::weighted_majority}) {
        INFO("round " << round << " " << to_string(method) << " rank " << to_string(rank) << " n " << n);
        const auto& sides = method == Method::majority ? votes : weights;
        const auto most = std::max_element(sides.begin(), sides.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        test::TreePolicy policy(root);
        const auto result = search_once(&policy, &critic, {.method = {.method = method, .n = n, .rank = rank}});
        const auto answer = env::extract_answer(result.text);
        REQUIRE(answer);
        REQUIRE(sides.at(*answer) == Approx(most->second).margin(1e-12));
      }
    }
  }
  CHECK(several > test::rounds(300));
}
