// critic/search/tree.h - the tree of one task's search, shared by all methods (critic/search/method.h). A node is one
// step of the policy. Expanding a node asks the policy for next steps, judging asks the critic, entering plays the turn
// that the node ends. Each action is checked against the budget first and recorded in the journal. Not thread-safe: one
// task, one thread.
//
// A step ends at a blank line after text, at the end of the turn, or at the turn's token limit. A blank line inside
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

// The start of a turn.
struct TurnStart {
  std::unique_ptr<env::Env> env;  // null once the turn was played (unless the tree forks), and if nothing follows
  std::vector<Message> messages;  // the transcript, the observation last
  env::Observation observation;
};

// The env's answer to a turn.
struct TurnEnd {
  env::StepResult result;
  bool over() const { return result.terminated || result.truncated; }
};

struct Node {
  int parent = -1;                  // of a root: -1
  int depth = 0;                    // steps below the root
  std::shared_ptr<TurnStart> turn;  // the turn of the steps after this node
  std::string text;                 // the step as written, white space around it included
  std::int64_t tokens = 0;
  std::vector<std::int32_t> token_ids;  // empty if the policy does not report them
  std::vector<float> logprobs;          // of each token; empty if the policy does not report them
  std::vector<std::vector<agents::Alternative>> alternatives;  // of each token; empty if not requested
  int said = 0;            // tokens of the step proper; after them come the score and the end
  bool ends_turn = false;  // the turn is complete
  bool cut = false;        // the budget ended inside it
  bool full = false;       // the policy's context has no room after it
  std::optional<Verdict> verdict;
  bool twin = false;           // the verdict was copied from a sibling with the same text
  std::optional<TurnEnd> end;  // of an entered node

  bool is_over() const { return full || cut || (end && end->over()); }
  bool is_root() const { return parent < 0; }
};

// Thrown where the journal ends and no policy, or no critic, is given to continue.
class JournalEnds : public Error {
 public:
  using Error::Error;
};

// anew: sampled without the texts of the steps that the node already has; at temperature 0 the next most likely.
enum class Writing { sampled, greedy, anew };

struct TreeOptions {
  Budget budget;
  agents::Sampling sampling;  // temperature and top_p of steps, max_tokens of a turn; its seed is not used
  std::uint64_t seed = 0;
  std::string instructions;  // system message; empty: none
  bool forks = false;        // several turns may follow a node, so each one is played on a fork of the env
  bool keeps_envs = false;   // forks, and keeps every env as long as the tree, to ask it about any step
  // Writes the next step while the critic judges the last one: the same result, sooner.
  bool speculate = true;
};

class Tree {
 public:
  // Makes a new env at the beginning of the task; called for each root.
  struct Beginning {
    std::unique_ptr<env::Env> env;
    env::StepResult first;
  };
  using Begin = std::function<Beginning()>;

  // policy, critic: may be null as long as the journal's past holds their answers; after that JournalEnds is thrown.
  // All must outlive the tree.
  Tree(agents::Policy* policy, StepCritic* critic, Begin begin, Journal& journal, const TreeOptions& options);
  ~Tree();

  int add_root();
  const Node& at(int node) const { return nodes_.at(static_cast<std::size_t>(node)); }
  int size() const { return static_cast<int>(nodes_.size()); }
  const env::TaskInfo& task() const { return task_; }
  Rng stream(std::string_view purpose) const { return Rng::derive(options_.seed, purpose, task_.id); }

  // Writes n next steps for each entry of `nodes`, in order; fewer or none if the budget ends. A node may occur several
  // times. greedy: at temperature 0. anew: if the policy supports it, else as sampled; the steps of one call are
  // independent of each other. If the context has no room, the node becomes full and gets no step. If the budget of
  // policy tokens could end before all steps are written, they are written a few at a time within the share for
  // candidates (Account), and the rest is dropped; the first step may use all tokens left. REQUIRES: no node is_over;
  // nodes that end a turn are entered.
  std::vector<std::vector<int>> expand(std::span<const int> nodes, int n, Writing writing = Writing::sampled);
  // Writes a next step for each of several parallel trajectories, with all tokens left: none is dropped in favour of
  // another.
  std::vector<std::vector<int>> extend(std::span<const int> lines);
  // Judges the nodes without a verdict; a sibling with the same text gets the same verdict without a call. A node stays
  // without one if the budget ends, also in the middle of a critique. ahead: the node is likely to be expanded next, by
  // one step.
  struct Ahead {
    int node = -1;
    Writing writing = Writing::sampled;
  };
  void judge(std::span<const int> nodes, std::optional<Ahead> ahead = {});
  // Plays the turns that end at the nodes. Nodes that end no turn, are entered or cut, or whose env is released are
  // skipped.
  void enter(std::span<const int> nodes);
  // The turn after the node will not be continued: its env may be destroyed.
  void release(int node) {
    if (!options_.keeps_envs) at(node).turn->env.reset();
  }
  // Counts what was written ahead and not used.
  void end() { drop_ahead(); }
  // Notes in the journal what the method did with a node ("reject", "keep", "prune", "answer").
  void note(const std::string& decision, int node, const Json& detail = nullptr);

  const Account& account() const { return account_; }
  // Notes that the method does less than planned, to save policy tokens.
  void hold_back() { account_.hold_back(); }

  std::vector<int> path(int node) const;  // from below the root down to the node
  std::string turn_text(int node) const;  // text of the node's turn, up to and including its step
  StepInContext step_at(int node) const;  // as a critic sees it; points into the tree
  // The trajectory to a node, in the form that a run records; for a root without turns.
  record::Episode episode(int node) const;

 private:
  struct WritingAhead;
  Draft draft(int line, int node, int number) const;
  std::vector<Draft> drafts(std::span<const int> nodes, int n, Writing writing) const;
  std::vector<agents::Beginning> said_behind(int node) const;
  enum class Share { of_candidates, all };  // share of the policy tokens left that one call may use
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
  std::vector<int> turn_steps(int node) const;  // steps of the node's turn, up to the node
  std::int64_t turn_tokens(int node) const;     // tokens that the turn after the node already has

  agents::Policy* policy_;
  StepCritic* critic_;
  Begin begin_;
  Journal& journal_;
  const TreeOptions options_;
  std::vector<Node> nodes_;
  std::vector<int> children_;                      // number of children per node: sample numbers continue from there
  std::unordered_map<std::uint64_t, int> judged_;  // hash of parent and text: the first such node with a verdict
  env::TaskInfo task_;
  Account account_;
  std::unique_ptr<WritingAhead> ahead_;
};

}  // namespace agon::critic
