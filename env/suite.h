// env/suite.h - the registered suites: what `agon suites` lists and `make_env` builds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/json.h"
#include "env/env.h"

namespace agon::env {

struct SuiteOptions {
  int level = 0;                // 0: the suite's default level
  std::string file;             // jsonl: the task file
  bool two_turn = false;        // each task is answered twice (env/two_turn.h)
  std::string reexamine;        // two_turn, role refiner: the text after the first answer; empty: kReexamine
  std::string role = "solver";  // or "refiner", "verifier" (env/role.h)
};

struct SuiteInfo {
  std::string name, description;
  std::string instructions;  // the short system message of an episode
  int levels = 1;            // 1..levels
  int default_level = 1;
  std::uint64_t test_tasks = 0;  // size of the fixed test split (jsonl: the lines of the file)
  std::uint64_t file_hash = 0;   // jsonl: of the task file and its pictures; a run goes on with the same ones only
  bool has_train_split = true;
  bool has_expert = true;  // Env::demonstrate answers
  int max_turns = 1;       // policy turns of an episode
  std::string metric;  // what a right episode is: "answer", "iou>0.5", "success", "verdict"; names the reward component
                       // "accuracy"
  Json observation_schema, action_schema;   // JSON Schema
  std::vector<std::string> object_classes;  // every name that info["objects"] can hold, sorted
};

// All suites, by name. jsonl needs a file, so it is listed but has no tasks of its own.
std::vector<std::string> suite_names();
// Throws Error for an unknown name (suggesting the nearest), an unknown role, a level out of range, a missing or bad
// file, two turns or another role of a suite that has several turns, both at once, or a role that needs an expert.
SuiteInfo suite_info(const std::string& name, const SuiteOptions& options = {});
std::unique_ptr<Env> make_env(const std::string& name, const SuiteOptions& options = {});

}  // namespace agon::env
