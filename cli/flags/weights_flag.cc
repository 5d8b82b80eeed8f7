#include "cli/flags/weights_flag.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "cli/flags/usage.h"
#include "core/error.h"

namespace agon::cli {

CLI::Option* add_weights_option(CLI::App& command, std::string& weights) {
  return command
      .add_option("--weights", weights,
                  "Type of a model folder's weights in memory: f32, bf16, q8 or q4 (default: auto, that of the files)")
      ->type_name("<name>")
      ->check(one_of({std::begin(agents::kWeightKinds), std::end(agents::kWeightKinds)}));
}

void use_weights(agents::PolicySource& policy, const std::string& weights) {
  if (weights.empty()) return;
  if (policy.endpoint) throw Error("--weights does nothing with a server, which has chosen its own. Leave it out.");
  const agents::WeightKind kind = agents::find_weight_kind(weights).value();
  if (policy.choices.weights != agents::WeightKind::automatic && policy.choices.weights != kind)
    throw Error("--weights {} contradicts #{} behind the folder. Leave one of them out.", weights,
                agents::name_of(policy.choices.weights));
  policy.choices.weights = kind;
}

}  // namespace agon::cli
