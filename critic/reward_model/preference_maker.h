// critic/reward_model/preference_maker.h - makes preferences from suites' tasks: responses by several writers, ranked
// by the suite or by the votes of judges. The work of `agon make-preferences`.
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
  int responses = 4;  // number chosen of all; 0: all are kept
  // Equal texts are kept as often as they were written, as in best-of-n; then all responses are kept.
  bool repeats = false;
  int max_tokens = 256;
  std::uint64_t seed = 0;
};

// A response and how the suite judges it.
struct KnownResponse {
  std::string text, source;
  double reward = 0;
  bool right = false;      // by the suite's metric
  double right_steps = 0;  // share of all steps that are known to be right and precede the first wrong one
};

// How the judges' votes became a ranking; empty without judges.
struct VotedRanking {
  PreferenceGraph graph;  // of all judges together, without cycles
  std::vector<PreferenceArc> removed;
  std::vector<int> order;  // topological, ties by the text: for drawing, not a label
};

struct MadePreference {
  std::uint64_t task = 0;
  Preference preference;                 // with the chosen responses
  std::vector<KnownResponse> responses;  // all; each text once, unless repeats are kept
  std::vector<int> rank;                 // of all
  std::vector<std::size_t> chosen;       // which of them
  VotedRanking voted;
};

// For each response the responses of a worse rank.
std::vector<std::vector<int>> worse_by_rank(const std::vector<int>& rank);

// A random subset of `count` responses in which one response is better than all others, in order; each such subset has
// the same chance. Nothing: no such subset exists. worse: for each response the responses known to be worse.
std::optional<std::vector<std::size_t>> choose_responses(const std::vector<std::vector<int>>& worse, std::size_t count,
                                                         Rng& rng);

// The ranks that the suite gives: right responses before wrong ones, then by right_steps; ties share a rank. (The
// reward is not used: it grades what nobody can see, such as a box that is one pixel nearer.)
std::vector<int> ranks_of(const std::vector<KnownResponse>& responses);
// The ranks that judges give: their graphs joined, without cycles, by ranks_within
// (critic/reward_model/preference_graph.h). All ranks are equal if no judge prefers any response.
std::vector<int> ranks_of_votes(const std::vector<KnownResponse>& responses, std::vector<PreferenceGraph> judges,
                                VotedRanking& voted);

class PreferenceMaker {
 public:
  // Throws Error for a suite of several turns or with a task file, and if nothing or too little would be written.
  // judges: empty if the suite itself ranks.
  PreferenceMaker(const PreferenceOptions& options, std::vector<ResponseWriter> writers, std::vector<Judge*> judges);
  ~PreferenceMaker();
  // One preference per task; nothing for a task whose responses cannot be told apart. With judges, the best chosen
  // response precedes every other one in their graph, and the chosen ones have their ranks within that graph.
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

// Written to and read from the journal of a run (record/episode_store.h); pictures are stored next to it.
Json made_json(const MadePreference& made, std::vector<Image>& images);
Preference preference_in(const Json& body, const std::function<Image(const std::string& hash)>& image);

}  // namespace agon::critic
