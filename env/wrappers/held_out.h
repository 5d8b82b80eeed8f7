// env/wrappers/held_out.h - keeps one kind of error out of the training data, so that a critic can later be tested on
// errors that it has never seen.
#pragma once

#include <memory>
#include <string>

#include "env/env.h"

namespace agon::env {

// The kind of error with that name. Throws Error for an unknown name, suggesting the nearest.
ErrorKind held_out_kind(const std::string& name);
// The same env, except that its corrupt_step makes no error of that kind.
std::unique_ptr<Env> held_out_env(std::unique_ptr<Env> env, ErrorKind kind);

}  // namespace agon::env
