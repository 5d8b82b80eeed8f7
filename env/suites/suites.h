// env/suites/suites.h - the suites that env/suite.cc registers: one pair of functions each. `options.level` is in
// range (0: the default level).
#pragma once

#include <memory>

#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

SuiteInfo charts_info(const SuiteOptions& options);
std::unique_ptr<Env> make_charts(const SuiteOptions& options);
SuiteInfo shapes_info(const SuiteOptions& options);
std::unique_ptr<Env> make_shapes(const SuiteOptions& options);
SuiteInfo phone_info(const SuiteOptions& options);
std::unique_ptr<Env> make_phone(const SuiteOptions& options);

}  // namespace agon::env
