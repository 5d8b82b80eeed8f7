// critic/search/tree.h - the tree of one task's search, shared by all methods (critic/search/method.h). A node is one
// step of the policy. Expanding a node asks the policy for next steps, judging asks the critic, entering plays the turn
// that the node ends. Each action is checked against the budget first and recorded in the journal. Not thread-safe: one
// task, one thread.
//
// A step ends at a blank line behind text, at the end of the turn, or at the turn's token limit. A blank line inside
// <search>, <code> or <problem> does not end a step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/policy.h"
#include "core/error.h"
#include "core/rng.h"
#include "critic/critic.h"
#include "critic/search/budget.h"
#include "critic/search/journal.h"
#include "env/env.h"
#include "record/episode.h"

namespace agon::critic {

struct Draft;  // critic/search/draft.h

// Where a turn is written.
struct TurnStart {
  std::unique_ptr<env::Env> env;  // null once the turn was played, unless the tree forks, and where nothing follows
  std::vector<Message> messages;  // the transcript, the observation last
  env::Observation observation;
};

// What the env said to a turn.
struct TurnEnd {
  env::StepResult result;
  bool over() const { return result.terminated || result.truncated; }
};

struct Node {
  int parent = -1;                  // of a root: -1
  int depth = 0;                    // steps below the root
  std::shared_ptr<TurnStart> turn;  // that the steps behind it are part of
  std::string text;                 // the step as written, white space around it included
  std::int64_t tokens = 0;
  std::vector<std::int32_t> token_ids;                         // none where the policy does not tell
  std::vector<float> logprobs;                                 // of each token; none where the policy does not tell
  std::vector<std::vector<agents::Alternative>> alternatives;  // of each token; none where none were asked for
  int said = 0;            // tokens until the step has said what it says: behind them are the score and the end
  bool ends_turn = false;  // nothing can be added to the turn
  bool cut = false;        // the budget has ended inside it
  bool full = false;       // the policy's context has no room behind it
  std::optional<Verdict> verdict;
  bool twin = false;           // the verdict is of a sibling that says the same: it was not asked for again
  std::optional<TurnEnd> end;  // of an entered node

  bool is_over() const { return full || cut || (end && end->over()); }
  bool is_root() const { return parent < 0; }
};

// There is no policy, or no critic, to go on with where the journal ends.
class JournalEnds : public Error {
 public:
  using Error::Error;
};

// anew: without what the steps behind the node say already; sampled, at temperature 0 the next likeliest.
enum class Writing { sampled, greedy, anew };

struct TreeOptions {
  Budget budget;
  agents::Sampling sampling;  // temperature and top_p of steps; max_tokens: of a turn. Its seed is not used
  std::uint64_t seed = 0;
  std::string instructions;  // system message; empty: none
  bool forks = false;        // several turns may follow a node, so each is played on a fork of the env
  bool keeps_envs = false;   // forks, and no env goes before the tree does: to ask it of any step
  // The next step is written while the critic judges the last: the same result, sooner.
  bool speculate = true;
};

class Tree {
 public:
  // A new env at the beginning of the task: called for each root.
  struct Beginning {
    std::unique_ptr<env::Env> env;
    env::StepResult first;
  };
  using Begin = std::function<Beginning()>;

  // policy, critic: may be null while the journal's past says what they said; then JournalEnds. All must outlive the
  // tree.
  Tree(agents::Policy* policy, StepCritic* critic, Begin begin, Journal& journal, const TreeOptions& options);
  ~Tree();

  int add_root();
  const Node& at(int node) const { return nodes_.at(static_cast<std::size_t>(node)); }
  int size() const { return static_cast<int>(nodes_.size()); }
  const env::TaskInfo& task() const { return task_; }
  Rng stream(std::string_view purpose) const { return Rng::derive(options_.seed, purpose, task_.id); }

  // Of each entry of `nodes` its next steps, n of them, in order; fewer or none where the budget ends. A node may stand
  // there several times. greedy: at temperature 0. anew: where the policy can, else as sampled; the steps of one call
  // do not know of each other. Where the context has no room, the node becomes full and has none. Where the budget of
  // policy tokens could end before all are written, they are written a few at a time within what is for candidates
  // (Account), and those behind go; the first may spend all that is left. REQUIRES: no node is_over; those that end a
  // turn are entered.
  std::vector<std::vector<int>> expand(std::span<const int> nodes, int n, Writing writing = Writing::sampled);
  // A next step for each of the lines that were begun side by side, with all that is left: none goes for the others.
  std::vector<std::vector<int>> extend(std::span<const int> lines);
  // Verdicts for the nodes that have none; a sibling with the same text has the same, unasked. A node is left without
  // one where the budget ends, also in the middle of a critique. ahead: the node is likely to be expanded next, by one
  // step.
  struct Ahead {
    int node = -1;
    Writing writing = Writing::sampled;
  };
  void judge(std::span<const int> nodes, std::optional<Ahead> ahead = {});
  // Plays the turns that the nodes end; those that end none, are entered or cut, or whose env is released, are passed
  // over.
  void enter(std::span<const int> nodes);
  // The turn behind the node is not gone on with: its env may go.
  void release(int node) {
    if (!options_.keeps_envs) at(node).turn->env.reset();
  }
  // What was written ahead and is not used is counted.
  void end() { drop_ahead(); }
  // Notes in the journal what the method did with a node ("reject", "keep", "prune", "answer").
  void note(const std::string& decision, int node, const Json& detail = nullptr);

  const Account& account() const { return account_; }
  // Notes that the method does less than it would, for the sake of policy tokens.
  void hold_back() { account_.hold_back(); }

  std::vector<int> path(int node) const;  // from below the root down to the node
  std::string turn_text(int node) const;  // what the turn of the node's step says up to it and with it
  StepInContext step_at(int node) const;  // as a critic sees it; points into the tree
  // The trajectory to a node, as a run records it; to a root: without turns.
  record::Episode episode(int node) const;

 private:
  struct WritingAhead;
  Draft draft(int line, int node, int number) const;
  std::vector<Draft> drafts(std::span<const int> nodes, int n, Writing writing) const;
  std::vector<agents::Beginning> said_behind(int node) const;
  enum class Share { of_candidates, all };  // that the steps of one call take of the policy tokens that are left
  std::vector<std::vector<int>> add_steps(std::span<const int> nodes, int n, Writing writing, Share share);
  std::vector<Draft> write(std::span<const int> nodes, int n, Writing writing, Share share);
  Json written_json(const std::vector<Draft>& drafts) const;
  void write_ahead(const Ahead& ahead);
  agents::Sampling sampling(Writing writing) const;
  void drop_ahead();
  std::vector<std::vector<int>> take_steps(const Json& body, std::size_t lines);
  std::uint64_t twin_key(int node) const;
  Json say(std::span<const int> nodes);
  void take_verdicts(const Json& body);
  void play_turn(int node);
  std::shared_ptr<TurnStart> next_turn(int node, std::unique_ptr<env::Env> env, const env::StepResult& result) const;
  std::vector<int> turn_steps(int node) const;  // of the turn that the node's step is part of, up to it
  std::int64_t turn_tokens(int node) const;     // that the turn behind the node has already

  agents::Policy* policy_;
  StepCritic* critic_;
  Begin begin_;
  Journal& journal_;
  const TreeOptions options_;
  std::vector<Node> nodes_;
  std::vector<int> children_;  // of each node, how many it has: sample numbers go on where they ended
  std::unordered_map<std::uint64_t, int> judged_;  // hash of parent and text: the first such node with a verdict
  env::TaskInfo task_;
  Account account_;
  std::unique_ptr<WritingAhead> ahead_;
};

}  // namespace agon::critic
