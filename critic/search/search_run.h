// critic/search/search_run.h - searches the tasks of a suite, several at a time, and stores them in a run: each tree as
// its journal, and the chosen trajectory as an episode (sample 0). With the same settings, a second call resumes each
// task where its journal ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "critic/critic.h"
#include "critic/search/method.h"
#include "env/suite.h"
#include "record/episode_store.h"
#include "record/run_reader.h"

namespace agon::critic {

inline constexpr int kSearchVersion = 6;  // "search_version" of a run's config: version of its journals

struct SearchOptions {
  std::optional<env::Suite> suite;  // nothing: envs that belong to no suite
  env::Split split = env::Split::test;
  std::uint64_t tasks = 100;
  std::uint64_t seed = 0;  // seed of tasks and steps
  MethodOptions method;
  Budget budget;              // per task
  agents::Sampling sampling;  // for steps
  bool speculate = true;      // changes no result
  int threads = 32;           // tasks searched at a time; changes no result
};

// The outcome of a task's search: the last entry of its journal ("result").
struct SearchOutcome {
  std::uint64_t task_index = 0;
  std::string task_id, kind;
  int level = 0;
  bool answered = false;  // a trajectory was finished
  bool success = false;
  std::string exhausted;  // the part of the budget that ended (Account::exhausted); empty: none
  Spent spent;
  int nodes = 0, judged = 0, invalid = 0, unknown = 0;  // invalid, unknown: number of such verdicts
  int rejected = 0, unranked = 0;
  std::map<int, int> attempts;
};
Json to_json(const SearchOutcome& outcome);
SearchOutcome outcome_in(const Json& json);

// The run that search_tasks reads and writes. search_tasks searches every task without a finished episode in the run,
// and calls `done` after each one. If a policy, critic or env throws, the task is tried twice more and then leaves a
// failed episode. An env that answers differently from the journal also leaves a failed episode, because the search was
// built on the recorded answer. Once *stop is true, the tasks under way stop; their journals stay valid. Throws Error
// for settings that cannot work: a method that needs a critic without one, or a method that needs forks with an env
// that cannot fork (with the env's reason).
struct SearchPlace {
  record::EpisodeStore* store;
  const record::RunReader* run;  // the same run, for reading
  std::function<void()> done;
  const std::atomic<bool>* stop = nullptr;
};
// REQUIRES: options.suite.
void search_tasks(agents::Policy& policy, StepCritic* critic, const SearchOptions& options, const SearchPlace& place);
// The same for envs that belong to no suite: new_env is called at the start of each trajectory, from several threads.
void search_tasks(agents::Policy& policy, StepCritic* critic, const SearchOptions& options, const SearchPlace& place,
                  const env::EnvFactory& new_env, const std::string& instructions);

// A task's search, rebuilt from its journal. If a policy (and critic) is given, its answers are computed again and
// compared with the journal. The replay ends where the journal ends and asks no model for new answers.
struct Replay {
  env::TaskInfo task;
  std::vector<Node> nodes;
  std::vector<std::optional<env::StepLabel>> labels;  // of each node's step, if the suite can tell
  SearchOutcome outcome;                              // if the search is finished
  bool finished = false;
  std::string failure;       // why the task failed and has no figures; empty: it did not fail
  bool asked_again = false;  // whether a policy's answers were computed again
  std::optional<Divergence> divergence;
};
// Throws Error for a task without a journal. REQUIRES: options.suite.
Replay replay(const SearchOptions& options, const record::RunReader& run, std::uint64_t task_index,
              agents::Policy* policy = nullptr, StepCritic* critic = nullptr);

}  // namespace agon::critic
