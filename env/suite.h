// env/suite.h - suites: named families of tasks, as `agon suites` lists them. A Suite object is one suite with the
// options of a run, and makes its Envs.
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
  std::string search;           // suite questions: where to search, as in tools/search/open_search.h
  std::string baseline;         // one of SuiteInfo::baselines: one turn without tools; empty: with tools
  std::string held_out;         // no step gets this kind of error (env/wrappers/held_out.h); empty: all kinds occur
};

// A task of a task file.
struct FileTask {
  std::string id;          // as TaskInfo::id
  std::string place;       // "tasks.jsonl:3", for messages
  std::uint64_t hash = 0;  // of its text, pictures and videos
  std::vector<std::filesystem::path> pictures;
  std::vector<std::filesystem::path> videos = {};  // video files
};

struct SuiteInfo {
  std::string name, description;
  std::string instructions;  // the short system message of an episode
  int levels = 1;            // 1..levels
  int default_level = 1;
  std::uint64_t test_tasks = 0;  // size of the fixed test split, or the number of tasks in its file
  bool takes_file = false;       // its tasks come from the file that SuiteOptions::file names
  // Of the task file and its pictures (their sizes and first bytes; for question files only the sizes). A run resumes
  // only if it is unchanged.
  std::uint64_t file_hash = 0;
  std::shared_ptr<const std::vector<FileTask>> file_tasks;  // the tasks of that file, in order; null without a file
  bool has_train_split = true;
  bool has_expert = true;              // Env::demonstrate returns actions
  std::vector<std::string> baselines;  // ways to play it without its tools, if it has tools
  int max_turns = 1;                   // policy turns of an episode
  std::string metric;  // what makes an episode right: "answer", "iou>0.5", "success", "verdict"; the meaning of the
                       // reward component "accuracy"
  Json observation_schema, action_schema;   // JSON Schema
  std::vector<std::string> object_classes;  // every name that info["objects"] can hold, sorted
};

// A suite as a run plays it. The constructor resolves name and options once: it fills in the level, and reads and
// checks the task file. Later changes to that file have no effect; its pictures are read when a task begins. Immutable,
// thread-safe, cheap to copy.
class Suite {
 public:
  // Throws Error for an unknown name (suggesting the nearest), role or kind of error; for a level out of range; for a
  // missing or bad file; for a baseline that the suite lacks. Also for roles and two_turn that do not fit the suite:
  // every role except solver needs a suite with an expert and excludes two_turn; refiner, verifier and two_turn need a
  // suite of one turn.
  explicit Suite(const std::string& name, const SuiteOptions& options = {});

  const std::string& name() const;
  const SuiteOptions& options() const;  // level is in 1..levels
  const SuiteInfo& info() const;
  // Throws Error if the suite takes a file and has none.
  std::unique_ptr<Env> make_env() const;
  // The TaskInfo::id of a task, even of one that cannot be started.
  std::string task_id(const ResetOptions& task) const;

  // The same suite with other options. It reuses the file that this one has read, unless `file`, `search` or `baseline`
  // differ. Throws Error as the constructor does.
  Suite with(const SuiteOptions& other) const;
  Suite with_role(const std::string& role) const;

 private:
  struct Resolved;
  explicit Suite(std::shared_ptr<const Resolved> resolved);

  std::shared_ptr<const Resolved> resolved_;
};

// Whether the first task of the split shows pictures (or videos). For shows_pictures, videos count as pictures.
bool shows_pictures(const Suite& suite, Split split, std::uint64_t seed);
bool shows_videos(const Suite& suite, Split split, std::uint64_t seed);

// The names of all suites, sorted. Suites that take a file are listed too, but have no tasks without one.
std::vector<std::string> suite_names();
// An Env of a suite, for callers that need nothing else of the suite. Throws Error as Suite does.
std::unique_ptr<Env> make_env(const std::string& name, const SuiteOptions& options = {});

}  // namespace agon::env
