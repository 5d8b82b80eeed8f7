// env/suite.h - the registered suites, as `agon suites` lists them, and Suite: one suite as a run plays it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "env/env.h"

namespace agon::env {

struct SuiteOptions {
  int level = 0;                // 0: the suite's default level
  std::string file;             // the task file of a suite that takes one
  bool two_turn = false;        // each task is answered twice (env/wrappers/two_turn.h)
  std::string reexamine;        // two_turn, role refiner: the text after the first answer; empty: kReexamine
  std::string role = "solver";  // or "refiner", "verifier", "critic", "sneaky" (env/wrappers/role.h)
  std::string search;           // questions: where to search, as tools/search/open_search.h names it
  std::string baseline;         // without the tools of a suite, in one turn: one of SuiteInfo::baselines
  std::string held_out;         // no step is made wrong by this kind of error (env/wrappers/held_out.h); empty: by any
};

// A task of a task file.
struct FileTask {
  std::string id;          // as TaskInfo::id
  std::string place;       // "tasks.jsonl:3", for messages
  std::uint64_t hash = 0;  // of its text and its pictures
  std::vector<std::filesystem::path> pictures;
  std::vector<std::filesystem::path> videos = {};  // files
};

struct SuiteInfo {
  std::string name, description;
  std::string instructions;  // the short system message of an episode
  int levels = 1;            // 1..levels
  int default_level = 1;
  std::uint64_t test_tasks = 0;  // size of the fixed test split; of a suite that takes a file, what is in it
  bool takes_file = false;       // its tasks come from the file that SuiteOptions::file names
  std::uint64_t file_hash = 0;   // of the task file and its pictures; a run resumes only with the same ones
  std::shared_ptr<const std::vector<FileTask>> file_tasks;  // of such a suite, in order; nothing without a file
  bool has_train_split = true;
  bool has_expert = true;              // Env::demonstrate answers
  std::vector<std::string> baselines;  // ways to play it without its tools; empty: it has none
  int max_turns = 1;                   // policy turns of an episode
  std::string metric;  // what a right episode is: "answer", "iou>0.5", "success", "verdict"; names the reward component
                       // "accuracy"
  Json observation_schema, action_schema;   // JSON Schema
  std::vector<std::string> object_classes;  // every name that info["objects"] can hold, sorted
};

// A suite as a run plays it: name and options resolved once (level filled in, task file read and checked), then asked
// as often as needed. A task file that changes afterwards changes nothing; its pictures are read when a task begins.
// Immutable, thread-safe, cheap to copy.
class Suite {
 public:
  // Throws Error for an unknown name (suggesting the nearest), an unknown role, a level out of range, a missing or bad
  // file, two turns or another role of a suite that has several turns, both at once, a role that needs an expert, a
  // baseline that the suite does not have, or an unknown kind of error to hold out.
  explicit Suite(const std::string& name, const SuiteOptions& options = {});

  const std::string& name() const;
  const SuiteOptions& options() const;  // level is in 1..levels
  const SuiteInfo& info() const;
  // Throws Error where the suite takes a file and has none.
  std::unique_ptr<Env> make_env() const;
  // What TaskInfo::id is, or would be of a task that cannot be begun.
  std::string task_id(const ResetOptions& task) const;

  // The same suite with other options. It plays the file that this one has read, unless `file`, `search` or `baseline`
  // differ. Throws Error as the constructor does.
  Suite with(const SuiteOptions& other) const;
  Suite with_role(const std::string& role) const;

 private:
  struct Resolved;
  explicit Suite(std::shared_ptr<const Resolved> resolved);

  std::shared_ptr<const Resolved> resolved_;
};

// Whether the first task of the split does; videos count as pictures too.
bool shows_pictures(const Suite& suite, Split split, std::uint64_t seed);
bool shows_videos(const Suite& suite, Split split, std::uint64_t seed);

// All suites, by name. Those that take a file are listed, but have no tasks without it.
std::vector<std::string> suite_names();
// An Env of a suite, for callers that need nothing else of the suite. Throws Error as Suite does.
std::unique_ptr<Env> make_env(const std::string& name, const SuiteOptions& options = {});

}  // namespace agon::env
