// env/suites/suites.h - declares the suites behind env/suite.h: one function per suite, listed in env/suite.cc.
// To add one: write suites/NAME/NAME.cc with NAME_suite, declare it here, add its line to the table in env/suite.cc and
// its files to env/CMakeLists.txt.
#pragma once

#include <functional>
#include <memory>

#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

// A suite: its description and the maker of its envs, both from one reading of its task file.
struct SuiteDefinition {
  SuiteInfo info;
  // level: in 1..info.levels. Called from several threads. Throws Error if the suite takes a file and has none.
  std::function<std::unique_ptr<Env>(int level)> make;
};

// These read options.file, search and baseline; Suite handles the others. They throw Error for a missing or bad file
// and for a baseline that no suite has.
SuiteDefinition arithmetic_suite(const SuiteOptions& options);
SuiteDefinition charts_suite(const SuiteOptions& options);
SuiteDefinition darkroom_suite(const SuiteOptions& options);
SuiteDefinition jsonl_suite(const SuiteOptions& options);
SuiteDefinition lookup_suite(const SuiteOptions& options);
SuiteDefinition mat_coding_suite(const SuiteOptions& options);
SuiteDefinition phone_suite(const SuiteOptions& options);
SuiteDefinition questions_suite(const SuiteOptions& options);
SuiteDefinition shapes_suite(const SuiteOptions& options);

}  // namespace agon::env
