// critic/search/tree.h - the tree of one task's search, shared by all methods (critic/search/method.h). A node is one
// step of the policy. Expanding a node asks the policy for next steps, judging a node asks the critic, and entering a
// node plays the turn that it ends. The tree checks each action against the budget and records it in the journal. Not
// thread-safe: each task has one thread.
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
  std::unique_ptr<env::Env> env;  // null once the turn is played (unless the tree forks), and if the episode is over
  std::vector<Message> messages;  // the transcript, with the observation last
  env::Observation observation;
};

// The env's answer to a turn.
struct TurnEnd {
  env::StepResult result;
  bool over() const { return result.terminated || result.truncated; }
};

struct Node {
  int parent = -1;                  // -1: the node is a root
  int depth = 0;                    // steps below the root
  std::shared_ptr<TurnStart> turn;  // the turn of the steps after this node
  std::string text;                 // the step as written, including the white space around it
  std::int64_t tokens = 0;
  std::vector<std::int32_t> token_ids;  // empty if the policy does not report them
  std::vector<float> logprobs;          // of each token; empty if the policy does not report them
  std::vector<std::vector<agents::Alternative>> alternatives;  // of each token; empty if not requested
  int said = 0;            // number of tokens of the step itself, without the score and the end after it
  bool ends_turn = false;  // the turn is complete
  bool cut = false;        // the budget ended inside it
  bool full = false;       // the policy's context has no room after it
  std::optional<Verdict> verdict;
  bool twin = false;           // the verdict was copied from a sibling with the same text
  std::optional<TurnEnd> end;  // set if the node is entered

  bool is_over() const { return full || cut || (end && end->over()); }
  bool is_root() const { return parent < 0; }
};

// Thrown if the journal ends and no policy, or no critic, is given to continue the search.
class JournalEnds : public Error {
 public:
  using Error::Error;
};

// How a step is written. anew: never a text that the node already has as a next step; at temperature 0 it is the next
// most likely text.
enum class Writing { sampled, greedy, anew };

struct TreeOptions {
  Budget budget;
  agents::Sampling sampling;  // temperature and top_p of steps, max_tokens of a turn; the seed is unused
  std::uint64_t seed = 0;
  std::string instructions;  // system message; empty: none
  bool forks = false;        // several turns may follow a node, so each one is played on a fork of the env
  bool keeps_envs = false;   // forks, and keeps every env as long as the tree, so that it can label any step
  // Writes the next step while the critic judges the last one: same result, less time.
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

  // policy, critic: may be null as long as the journal's past holds their answers; after it, JournalEnds is thrown.
  // policy, critic and journal must outlive the tree.
  Tree(agents::Policy* policy, StepCritic* critic, Begin begin, Journal& journal, const TreeOptions& options);
  ~Tree();

  int add_root();
  const Node& at(int node) const { return nodes_.at(static_cast<std::size_t>(node)); }
  int size() const { return static_cast<int>(nodes_.size()); }
  const env::TaskInfo& task() const { return task_; }
  Rng stream(std::string_view purpose) const { return Rng::derive(options_.seed, purpose, task_.id); }

  // Writes n next steps for each entry of `nodes`, in order; fewer or none if the budget ends. A node may occur several
  // times. greedy: at temperature 0. anew: if the policy does not support it, as sampled; the steps of one call are
  // independent of each other. If the context has no room, the node becomes full and gets no step. If the policy tokens
  // could end before all steps are written, the steps are written a few at a time within the share for candidates
  // (Account), and those that do not fit are dropped; the first step may use all tokens left. REQUIRES: no node
  // is_over; nodes that end a turn are entered.
  std::vector<std::vector<int>> expand(std::span<const int> nodes, int n, Writing writing = Writing::sampled);
  // Writes a next step for each of several parallel trajectories. They share all tokens left, and none is dropped in
  // favour of another.
  std::vector<std::vector<int>> extend(std::span<const int> lines);
  // Judges the nodes without a verdict; a sibling with the same text gets the same verdict without a call. A node gets
  // no verdict if the budget ends before or during its critique. ahead: the node that the search will probably expand
  // next, by one step.
  struct Ahead {
    int node = -1;
    Writing writing = Writing::sampled;
  };
  void judge(std::span<const int> nodes, std::optional<Ahead> ahead = {});
  // Plays the turns that end at the nodes. Skips nodes that do not end a turn, that are entered or cut, or whose env is
  // released.
  void enter(std::span<const int> nodes);
  // Says that the turn after the node will not be continued, so that its env can be destroyed.
  void release(int node) {
    if (!options_.keeps_envs) at(node).turn->env.reset();
  }
  // Counts the tokens that were written ahead and not used.
  void end() { drop_ahead(); }
  // Records in the journal what the method did with a node ("reject", "keep", "prune", "answer").
  void note(const std::string& decision, int node, const Json& detail = nullptr);

  const Account& account() const { return account_; }
  // Records in the account that the method does less than planned, to save policy tokens.
  void hold_back() { account_.hold_back(); }

  std::vector<int> path(int node) const;  // the nodes below the root, down to the node
  std::string turn_text(int node) const;  // text of the node's turn, up to and including its step
  StepInContext step_at(int node) const;  // as a critic sees it; points into the tree
  // The trajectory to a node, in the form that a run records; that of a root has no turns.
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
