// env/suites/suites.h - the suites behind env/suite.h: one file each, two functions each, listed in env/suite.cc.
// To add one: write suites/NAME.cc with NAME_info and make_NAME, declare both here, add its line to the table in
// env/suite.cc and its files to env/CMakeLists.txt.
#pragma once

#include <memory>

#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

// What does not depend on options.level. May throw Error for a missing or bad options.file.
SuiteInfo charts_info(const SuiteOptions& options);
SuiteInfo darkroom_info(const SuiteOptions& options);
SuiteInfo jsonl_info(const SuiteOptions& options);
SuiteInfo lookup_info(const SuiteOptions& options);
SuiteInfo mat_coding_info(const SuiteOptions& options);
SuiteInfo phone_info(const SuiteOptions& options);
SuiteInfo questions_info(const SuiteOptions& options);
SuiteInfo shapes_info(const SuiteOptions& options);

// options.level is in 1..levels: the registry has put the default in and has refused anything else.
std::unique_ptr<Env> make_charts(const SuiteOptions& options);
std::unique_ptr<Env> make_darkroom(const SuiteOptions& options);
std::unique_ptr<Env> make_jsonl(const SuiteOptions& options);
std::unique_ptr<Env> make_lookup(const SuiteOptions& options);
std::unique_ptr<Env> make_mat_coding(const SuiteOptions& options);
std::unique_ptr<Env> make_phone(const SuiteOptions& options);
std::unique_ptr<Env> make_questions(const SuiteOptions& options);
std::unique_ptr<Env> make_shapes(const SuiteOptions& options);

}  // namespace agon::env
