// critic/reward_model/preference_maker.h - makes preferences from the tasks of a suite, for `agon make-preferences`:
// several writers respond to each task, and the suite or the votes of judges rank the responses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "core/rng.h"
#include "critic/reward_model/judge.h"
#include "critic/reward_model/preference.h"
#include "critic/reward_model/preference_graph.h"
#include "env/suite.h"

namespace agon::critic {

// A policy that samples responses, `samples` per task.
struct ResponseWriter {
  agents::Policy* policy = nullptr;  // not owned
  std::string name;                  // "agon-tiny T=1"
  double temperature = 1;
};

struct PreferenceOptions {
  env::Suite suite;
  env::Split split = env::Split::train;
  int samples = 4;    // per writer and task; 0: none
  int corrupted = 1;  // expert solutions with one step made wrong; 0: none
  int responses = 4;  // number of responses that are chosen per task; 0: all are kept
  // Keeps equal texts as often as they were written, as in best-of-n; then all responses are kept.
  bool repeats = false;
  int max_tokens = 256;
  std::uint64_t seed = 0;
};

// A response and the suite's judgement of it.
struct KnownResponse {
  std::string text, source;
  double reward = 0;
  bool right = false;      // by the suite's metric
  double right_steps = 0;  // share of steps that are known to be right and come before the first wrong step
};

// The ranking that the judges' votes gave; empty without judges.
struct VotedRanking {
  PreferenceGraph graph;  // of all judges together, without cycles
  std::vector<PreferenceArc> removed;
  std::vector<int> order;  // topological, ties by the text: for display, not a label
};

struct MadePreference {
  std::uint64_t task = 0;
  Preference preference;                 // with the chosen responses
  std::vector<KnownResponse> responses;  // all responses; each text once, unless repeats are kept
  std::vector<int> rank;                 // of all responses
  std::vector<std::size_t> chosen;       // indices of the chosen responses
  VotedRanking voted;
};

// For each response the indices of the responses with a worse rank.
std::vector<std::vector<int>> worse_by_rank(const std::vector<int>& rank);

// A random subset of `count` responses in which one response is better than all others, in order. Each such subset is
// equally likely. Nothing: no such subset exists. worse: for each response the responses known to be worse.
std::optional<std::vector<std::size_t>> choose_responses(const std::vector<std::vector<int>>& worse, std::size_t count,
                                                         Rng& rng);

// The ranks that the suite gives: right responses before wrong ones, then by right_steps; ties share a rank. (The
// reward is not used, because it also grades invisible differences, such as a box that is one pixel nearer.)
std::vector<int> ranks_of(const std::vector<KnownResponse>& responses);
// The ranks that judges give: ranks_within (critic/reward_model/preference_graph.h) over the union of their graphs,
// without cycles. All ranks are equal if no arc is left.
std::vector<int> ranks_of_votes(const std::vector<KnownResponse>& responses, std::vector<PreferenceGraph> judges,
                                VotedRanking& voted);

class PreferenceMaker {
 public:
  // judges: empty if the suite itself ranks the responses. Throws Error for a suite of several turns or with a task
  // file, and if the options write no responses or fewer than options.responses.
  PreferenceMaker(const PreferenceOptions& options, std::vector<ResponseWriter> writers, std::vector<Judge*> judges);
  ~PreferenceMaker();
  // Makes one preference per task; nothing if the responses all have the same rank, or if no choice of them has a
  // single best one. With judges, the best chosen response precedes every other one in their graph, and the chosen
  // responses have their ranks within that graph.
  std::vector<std::optional<MadePreference>> make(const std::vector<std::uint64_t>& tasks);
  const env::Suite& suite() const { return options_.suite; }
  // Outcomes of the requests to judges, for each task of the last make().
  const std::vector<JudgeCounts>& judged() const { return judged_; }

 private:
  struct Task;
  std::unique_ptr<Task> open(std::uint64_t index) const;
  void write(std::vector<std::unique_ptr<Task>>& tasks) const;
  void corrupt(Task& task) const;
  void rank(std::vector<std::unique_ptr<Task>>& tasks);
  std::optional<MadePreference> choose(Task& task) const;

  const PreferenceOptions options_;
  const std::vector<ResponseWriter> writers_;
  const std::vector<Judge*> judges_;
  std::unique_ptr<env::Env> env_;
  std::vector<JudgeCounts> judged_;
};

// A made preference as JSON in the journal of a run (record/episode_store.h), which stores the pictures separately.
Json made_json(const MadePreference& made, std::vector<Image>& images);
Preference preference_in(const Json& body, const std::function<Image(const std::string& hash)>& image);

}  // namespace agon::critic
