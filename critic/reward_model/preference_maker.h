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

// Who samples responses, `samples` of a task.
struct ResponseWriter {
  agents::Policy* policy = nullptr;  // not owned
  std::string name;                  // "agon-tiny T=1"
  double temperature = 1;
};

struct PreferenceOptions {
  env::Suite suite;
  env::Split split = env::Split::train;
  int samples = 4;    // of each writer; 0: none
  int corrupted = 1;  // of the expert's solutions with a step made wrong; 0: none
  int responses = 4;  // chosen of all; 0: all of them stay
  // A text stands as often as it was written, as among the samples that a best is taken of; then all stay.
  bool repeats = false;
  int max_tokens = 256;
  std::uint64_t seed = 0;
};

// A response and what the suite knows of it.
struct KnownResponse {
  std::string text, source;
  double reward = 0;
  bool right = false;      // by the suite's metric
  double right_steps = 0;  // known to be right, before the first wrong one; share of all its steps
};

// How the judges' votes became a ranking; empty without judges.
struct VotedRanking {
  PreferenceGraph graph;  // of all judges together, without cycles
  std::vector<PreferenceArc> removed;
  std::vector<int> order;  // topological, ties by the text: to draw it, no label
};

struct MadePreference {
  std::uint64_t task = 0;
  Preference preference;                 // of the chosen responses
  std::vector<KnownResponse> responses;  // all; each text once, unless repeats stay
  std::vector<int> rank;                 // of all
  std::vector<std::size_t> chosen;       // which of them
  VotedRanking voted;
};

// Of each response those that are worse by its rank.
std::vector<std::vector<int>> worse_by_rank(const std::vector<int>& rank);

// A subset of `count` of the responses with one that is better than all the others in it, each such subset with the
// same chance, in order; nothing where there is none. worse: of each response those that are known to be worse.
std::optional<std::vector<std::size_t>> choose_responses(const std::vector<std::vector<int>>& worse, std::size_t count,
                                                         Rng& rng);

// The ranks that the suite gives: right ones before wrong ones, then by right_steps; equals are equal. (Not by reward,
// which grades what nobody can see: of two boxes of one object the one that is a pixel nearer.)
std::vector<int> ranks_of(const std::vector<KnownResponse>& responses);
// ... and those of judges: of the graphs of all, without cycles, by ranks_within
// (critic/reward_model/preference_graph.h). All equal where no judge prefers any.
std::vector<int> ranks_of_votes(const std::vector<KnownResponse>& responses, std::vector<PreferenceGraph> judges,
                                VotedRanking& voted);

class PreferenceMaker {
 public:
  // Throws Error for a suite of several turns or of a task file, and where nothing or too little is to be written.
  // judges: empty: the suite's own truth ranks.
  PreferenceMaker(const PreferenceOptions& options, std::vector<ResponseWriter> writers, std::vector<Judge*> judges);
  ~PreferenceMaker();
  // Of each task; nothing for one whose responses cannot be told apart. With judges the best of the chosen is one that
  // is before every other over arcs of their graph, and the chosen have their ranks within it.
  std::vector<std::optional<MadePreference>> make(const std::vector<std::uint64_t>& tasks);
  const env::Suite& suite() const { return options_.suite; }
  // Of each task of the last make, what became of the requests to judges.
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

// For the journal of a run (record/episode_store.h), pictures beside it, and back.
Json made_json(const MadePreference& made, std::vector<Image>& images);
Preference preference_in(const Json& body, const std::function<Image(const std::string& hash)>& image);

}  // namespace agon::critic
