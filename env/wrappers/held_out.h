// env/wrappers/held_out.h - keeps one kind of error out of everything that is learned from, so that it is new to a
// critic that is later judged on it.
#pragma once

#include <memory>
#include <string>

#include "env/env.h"

namespace agon::env {

// The kind of that name. Throws Error for an unknown name, suggesting the nearest.
ErrorKind held_out_kind(const std::string& name);
// The same env, except that nothing in it is made wrong by an error of that kind.
std::unique_ptr<Env> held_out_env(std::unique_ptr<Env> env, ErrorKind kind);

}  // namespace agon::env
