// cli/flags/memory_flags.h - the flags --weights, --kv and --memory of commands whose policy may be a model folder. A
// folder name may also end with these types, as in models/x#q8#kv=bf16.
#pragma once

#include <cstdint>
#include <string>

#include "agents/open_policy.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}  // namespace CLI

namespace agon::cli {

struct MemoryFlags {
  std::string weights, kv;
  std::int64_t megabytes = 0;  // 0: not given
};

inline constexpr const char* kMemoryFlags[] = {"--weights", "--kv", "--memory"};
// group: the heading of all three in --help; empty: none.
void add_memory_options(CLI::App& command, MemoryFlags& flags, const std::string& group = "");
// Keeps the policy in memory as the flags say. Throws WrongUsage for a server, and for a folder name that ends with
// another type.
void use_memory(agents::PolicySource& policy, const MemoryFlags& flags);
// Prints "memory: weights 5.2 MB, KV for ..." on standard error; nothing for a server.
void tell_memory(const agents::Policy& policy);

}  // namespace agon::cli
