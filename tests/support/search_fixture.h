// tests/support/search_fixture.h - trees made by hand or at random, with a policy that writes along them, an env that
// grades their leaves, and a critic that knows what each step is worth.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "critic/critic.h"
#include "critic/search/journal.h"
#include "critic/search/method.h"
#include "critic/search/tree.h"
#include "env/protocol.h"
#include "record/journal_entry.h"

namespace agon::test {

// A step, what a critic holds of it, and what may follow. A leaf's step holds the answer.
struct Branch {
  std::string step;
  double worth = 1;
  std::vector<Branch> next;
};

inline std::vector<const Branch*> leaves(const Branch& root) {
  std::vector<const Branch*> all;
  for (const Branch& branch : root.next) {
    if (branch.next.empty()) all.push_back(&branch);
    for (const Branch* leaf : leaves(branch)) all.push_back(leaf);
  }
  return all;
}

// Steps "s0", "s01", ... named by their way from the root, 1 to 3 behind each down to `depth`.
inline void grow(Branch& branch, const std::string& way, int depth, Rng& rng) {
  const int count = rng.between(1, 3);
  for (int i = 0; i < count; ++i) {
    const std::string name = way + std::to_string(i);
    Branch& child = branch.next.emplace_back();
    child.worth = rng.between(0, 100) / 100.0;
    const bool leaf = depth <= 1 || rng.chance(0.2);
    child.step =
        leaf ? "<answer>" + name + "</answer><score>0." + std::to_string(rng.between(1, 9)) + "</score>" : "s" + name;
    if (!leaf) grow(child, name, depth - 1, rng);
  }
}

inline Branch random_tree(Rng& rng, int depth = 3) {
  Branch root;
  grow(root, "", depth, rng);
  return root;
}

// Writes the tree's steps: at temperature 0 the first child, else the children in turn, whoever asks; or drawn by the
// request's seed. A token is a byte. excludes: it passes over children that begin as an excluded completion does, while
// others are left.
enum class Draws { in_turn, by_seed };
class TreePolicy : public agents::Policy {
 public:
  explicit TreePolicy(const Branch& root, bool excludes = false, Draws draws = Draws::in_turn)
      : root_(root), excludes_(excludes), draws_(draws) {}

  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    const std::lock_guard lock(mutex_);
    std::vector<agents::Completion> all;
    for (const agents::CompletionRequest& request : requests)
      for (int j = 0; j < request.n; ++j) all.push_back(one(request));
    calls += 1;
    return all;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"tree", false, true, false, 1 << 20}; }

  std::int64_t written = 0, calls = 0;

 private:
  const Branch* place(const std::string& prefix) const {
    const Branch* branch = &root_;
    for (const env::Span& span : env::split_steps(prefix))
      for (const Branch& child : branch->next)
        if (child.step == span.of(prefix)) {
          branch = &child;
          break;
        }
    return branch;
  }

  std::vector<const Branch*> open_children(const Branch& here, const std::vector<agents::Beginning>& excluded) const {
    const auto is_excluded = [&](const Branch& child) {
      return std::any_of(excluded.begin(), excluded.end(), [&](const agents::Beginning& beginning) {
        const std::string text(beginning.token_ids.begin(), beginning.token_ids.end());
        return (child.step + "\n\n").starts_with(text);
      });
    };
    std::vector<const Branch*> open, all;
    for (const Branch& child : here.next) {
      all.push_back(&child);
      if (!excludes_ || !is_excluded(child)) open.push_back(&child);
    }
    return open.empty() ? all : open;
  }

  std::size_t next_turn(std::uint64_t seed, const std::string& whole) {
    return draws_ == Draws::by_seed ? Rng::derive(seed, "tree policy")() % 1000 : turns_[whole]++;
  }
  const Branch& next_child(const Branch& here, const std::string& whole, const agents::CompletionRequest& request) {
    const std::size_t turn = request.sampling.temperature == 0 ? 0 : next_turn(request.sampling.seed, whole);
    const std::vector<const Branch*> open = open_children(here, request.sampling.excluded);
    return *open[turn % open.size()];
  }
  // Of which a part is written: the first that begins so.
  static const Branch* begun_child(const Branch& here, const std::string& begun) {
    const auto child = std::find_if(here.next.begin(), here.next.end(),
                                    [&](const Branch& one) { return (one.step + "\n\n").starts_with(begun); });
    return child == here.next.end() ? &here.next.front() : &*child;
  }

  agents::Completion one(const agents::CompletionRequest& request) {
    const std::size_t end = request.prefix.rfind("\n\n");
    const std::string whole = end == std::string::npos ? "" : request.prefix.substr(0, end + 2),
                      begun = request.prefix.substr(whole.size());
    const Branch& here = *place(whole);
    agents::Completion completion;
    if (here.next.empty()) return completion;
    const Branch& child = begun.empty() ? next_child(here, whole, request) : *begun_child(here, begun);
    std::string text = (child.step + (child.next.empty() ? "" : "\n\n")).substr(begun.size());
    completion.matched_stop = child.next.empty() ? "" : "\n\n";
    if (std::ssize(text) > request.sampling.max_tokens) {
      text.resize(static_cast<std::size_t>(request.sampling.max_tokens));
      completion.finish_reason = agents::FinishReason::length;
      completion.matched_stop.clear();
    }
    for (const char byte : text) {
      completion.token_ids.push_back(byte);
      completion.token_ends.push_back(static_cast<std::uint32_t>(completion.token_ids.size()));
    }
    completion.logprobs.assign(text.size(), -0.5F);
    completion.text = std::move(text);
    written += std::ssize(completion.token_ids);
    return completion;
  }

  const Branch& root_;
  const bool excludes_;
  const Draws draws_;
  std::mutex mutex_;
  std::map<std::string, std::size_t> turns_;
};

// P(correct) of a step is its worth; a verdict is `tokens` long.
class TreeCritic : public critic::StepCritic {
 public:
  explicit TreeCritic(const Branch& root, std::int64_t tokens = 7) : tokens_(tokens) { learn(root, ""); }
  std::vector<critic::Verdict> judge(std::span<const critic::StepInContext> steps, std::int64_t tokens) override {
    std::vector<critic::Verdict> verdicts;
    for (const critic::StepInContext& step : steps) {
      const auto known = worth_.find(step.before + "|" + step.step);
      critic::Verdict verdict = known == worth_.end() ? critic::Verdict{} : critic::verdict_from(known->second);
      verdict.tokens = std::min(tokens, tokens_);
      if (verdict.tokens < tokens_) verdict = {critic::Judgement::invalid, {}, "", "cut", true, verdict.tokens};
      written += verdict.tokens;
      ++asked;
      verdicts.push_back(std::move(verdict));
    }
    return verdicts;
  }
  std::string name() const override { return "tree"; }

  std::int64_t written = 0, asked = 0;

 private:
  void learn(const Branch& branch, const std::string& before) {
    for (const Branch& child : branch.next) {
      worth_[before + "|" + std::string(env::without_score(child.step))] = child.worth;
      learn(child, before.empty() ? child.step : before + "\n\n" + child.step);
    }
  }
  std::map<std::string, double> worth_;
  std::int64_t tokens_;
};

// `turns` turns; the last one's answer is right where it is `gold`. Counts how many of it live.
class CountedEnv : public env::Env {
 public:
  explicit CountedEnv(std::string gold, int turns = 1, bool forks = true)
      : gold_(std::move(gold)), turns_(turns), forks_(forks) {
    ++alive();
    most_alive() = std::max(most_alive().load(), alive().load());
  }
  CountedEnv(const CountedEnv& other) : Env(other), gold_(other.gold_), turns_(other.turns_), forks_(other.forks_) {
    ++alive();
    most_alive() = std::max(most_alive().load(), alive().load());
    played_ = other.played_;
    task_ = other.task_;
  }
  ~CountedEnv() override { --alive(); }

  env::StepResult reset(const env::ResetOptions& options) override {
    played_ = 0;
    task_ = {fmt::format("counted/{}", options.index), 1, "toy", "Which?", gold_};
    env::StepResult first;
    first.observation.parts.push_back(Part::of("Which?"));
    return first;
  }
  env::StepResult step(const env::Action& action) override {
    ++steps();
    env::StepResult result;
    result.terminated = ++played_ == turns_;
    const bool right = env::extract_answer(action.text) == gold_;
    result.reward = {right ? 1.0 : 0.0, {{"accuracy", right ? 1.0 : 0.0}}};
    if (result.terminated) result.success = right;
    if (!result.terminated) result.observation.parts.push_back(Part::of("Go on."));
    return result;
  }
  std::unique_ptr<Env> fork() const override {
    if (!forks_) throw Error("its state is not ours.");
    return std::make_unique<CountedEnv>(*this);
  }
  const env::TaskInfo& task() const override { return task_; }

  static std::atomic<int>& alive() {
    static std::atomic<int> count = 0;
    return count;
  }
  static std::atomic<int>& most_alive() {
    static std::atomic<int> count = 0;
    return count;
  }
  static std::atomic<std::int64_t>& steps() {
    static std::atomic<std::int64_t> count = 0;
    return count;
  }

 private:
  std::string gold_;
  int turns_, played_ = 0;
  bool forks_;
  env::TaskInfo task_;
};

// One search, with its journal kept.
struct Searched {
  critic::Answer answer;
  critic::Spent spent;
  std::string exhausted;
  std::string text;  // of the turn that was chosen; empty: none
  std::optional<double> rank;
  int nodes = 0;
  std::vector<record::JournalEntry> journal;
  std::optional<critic::Divergence> divergence;
};

struct SearchInput {
  critic::MethodOptions method;
  critic::Budget budget;
  std::vector<record::JournalEntry> past;
  std::string gold = "none";
  int turns = 1;
  int max_tokens = 100'000;  // of a turn
  bool speculate = false, compare = false;
};

inline Searched search_once(agents::Policy* policy, critic::StepCritic* critic, const SearchInput& input) {
  Searched result;
  result.journal = input.past;
  critic::Journal journal(0, input.past,
                          [&](record::JournalEntry entry) { result.journal.push_back(std::move(entry)); });
  if (input.compare) journal.compare();
  critic::TreeOptions options;
  options.budget = input.budget;
  options.sampling.max_tokens = input.max_tokens;
  options.forks = critic::needs_forks(input.method.method);
  options.speculate = input.speculate;
  const auto begin = [&] {
    critic::Tree::Beginning beginning{std::make_unique<CountedEnv>(input.gold, input.turns), {}};
    beginning.first = beginning.env->reset({});
    return beginning;
  };
  critic::Tree tree(policy, critic, begin, journal, options);
  result.answer = critic::search(tree, input.method);
  result.spent = tree.account().spent();
  result.exhausted = tree.account().exhausted();
  result.nodes = tree.size();
  result.divergence = journal.divergence();
  if (result.answer.node < 0) return result;
  result.text = tree.turn_text(result.answer.node);
  result.rank = critic::rank_of(tree, result.answer.node, input.method.rank);
  return result;
}

}  // namespace agon::test
