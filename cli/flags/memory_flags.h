// cli/flags/memory_flags.h - --weights, --kv and --memory, of commands whose policy may be a model folder. Wherever a
// policy is named, these types may stand behind its folder: models/x#q8#kv=bf16.
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
// group: of all three in --help; empty: none.
void add_memory_options(CLI::App& command, MemoryFlags& flags, const std::string& group = "");
// The policy is kept in memory as the flags say. Throws WrongUsage for a server, and where the folder has another
// ending.
void use_memory(agents::PolicySource& policy, const MemoryFlags& flags);
// "memory: weights 5.2 MB, KV for ..." on standard error; nothing for a server.
void tell_memory(const agents::Policy& policy);

}  // namespace agon::cli
