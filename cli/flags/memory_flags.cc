#include "cli/flags/memory_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <vector>

#include "agents/engine/local_policy.h"
#include "cli/flags/usage.h"

namespace agon::cli {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

void use_weights(agents::PolicySource& policy, const std::string& weights) {
  const agents::WeightKind kind = agents::find_weight_kind(weights).value();
  if (policy.choices.weights != agents::WeightKind::automatic && policy.choices.weights != kind)
    throw WrongUsage("--weights {} contradicts #{} behind the folder. Leave one of them out.", weights,
                     agents::name_of(policy.choices.weights));
  policy.choices.weights = kind;
}

void use_keys(agents::PolicySource& policy, const std::string& kv) {
  const kernels::KeyType type = agents::find_key_type(kv).value();
  if (policy.choices.keys != kernels::KeyType::f32 && policy.choices.keys != type)
    throw WrongUsage("--kv {} contradicts #kv={} behind the folder. Leave one of them out.", kv,
                     agents::name_of(policy.choices.keys));
  policy.choices.keys = type;
}

}  // namespace

void add_memory_options(CLI::App& command, MemoryFlags& flags, const std::string& group) {
  command
      .add_option("--weights", flags.weights,
                  "Type of a model folder's weights in memory: f32, bf16, q8 or q4 (default: auto, that of the files; "
                  "F16 becomes f32)")
      ->type_name("<name>")
      ->check(one_of({std::begin(agents::kWeightKinds), std::end(agents::kWeightKinds)}));
  command
      .add_option("--kv", flags.kv,
                  "Type of a model folder's keys and values in memory: f32, bf16 or q8 (default: auto, f32)")
      ->type_name("<name>")
      ->check(one_of({std::begin(agents::kKeyTypes), std::end(agents::kKeyTypes)}));
  command
      .add_option("--memory", flags.megabytes,
                  "Memory in MB for a model folder's weights, keys and values (default: the machine's memory; keys and "
                  "values take at most a quarter of it)")
      ->type_name("<n>")
      ->check(whole_number_in(1, 1'000'000'000));
  if (group.empty()) return;
  for (const char* flag : kMemoryFlags) command.get_option(flag)->group(group);
}

void use_memory(agents::PolicySource& policy, const MemoryFlags& flags) {
  for (const auto& [flag, is_given] :
       {std::pair("--weights", !flags.weights.empty()), std::pair("--kv", !flags.kv.empty()),
        std::pair("--memory", flags.megabytes > 0)})
    if (policy.endpoint && is_given)
      throw WrongUsage("{} does nothing with a server, which has chosen its own. Leave it out.", flag);
  if (!flags.weights.empty()) use_weights(policy, flags.weights);
  if (!flags.kv.empty()) use_keys(policy, flags.kv);
  policy.memory = flags.megabytes * kMegabyte;
}

void tell_memory(const agents::Policy& policy) {
  const auto* const local = dynamic_cast<const agents::LocalPolicy*>(&policy);
  if (local) fmt::print(stderr, "memory: {}\n", agents::memory_text(local->model().engine.memory()));
}

}  // namespace agon::cli
