#include "critic/reward_model/card.h"

#include <fmt/format.h>

#include "agents/config_reader.h"
#include "core/file.h"
#include "core/provenance.h"

namespace agon::critic {
namespace {

std::string figure(const Json& value) { return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : "-"; }

std::string probability(const Json& notes) {
  if (notes.at("held_out").is_null()) return "P(right) of a score was not fitted.";
  return fmt::format("P(right) of a score r, at even odds: 1 / (1 + exp(-({:.4g} r + {:.4g}))).",
                     notes.at("slope").get<double>(), notes.at("offset").get<double>());
}

std::string held_out_table(const Json& held_out) {
  if (held_out.is_null()) return "No sets were held out.\n";
  std::string table = "| held-out sets | n | best of N [95 %] | pairwise | Kendall's tau |\n|---|---|---|---|---|\n";
  const auto add = [&](const std::string& name, const Json& row) {
    const std::string interval =
        row.contains("ci") ? fmt::format(" [{}, {}]", figure(row["ci"][0]), figure(row["ci"][1])) : "";
    table += fmt::format("| {} | {} | {}{} | {} | {} |\n", name, row.at("n").get<int>(), figure(row.at("best_of_n")),
                         interval, figure(row.at("pairwise")), figure(row.at("kendall_tau")));
  };
  add("all", held_out);
  for (const auto& [category, row] : held_out.at("by_category").items()) add(category, row);
  return table;
}

// The version of agon and the time; empty if the process does not record them.
std::string made_by(const Json& notes) {
  const Json made = notes.value(kProvenance, Json::object());
  if (!made.contains("version")) return {};
  return fmt::format("Made by agon {} (commit {}), {}.\n", made.value("version", ""), made.value("commit", ""),
                     made.value("date", ""));
}

}  // namespace

void write_reward_card(const std::filesystem::path& folder, const agents::RewardNetworkSettings& settings,
                       const Json& notes) {
  const std::string text = fmt::format(
      "# A reward model\n\n"
      "It scores several responses to one prompt, pictures included, in one pass; the highest is the best. {}\n\n"
      "    agon score --reward-model . FILE.json  # in this folder\n\n"
      "Built on `{}`: an adapter (LoRA, rank {}), a separator token and a head ({}, of the state{} `{}`). The vision "
      "tower is unchanged.\n"
      "Trained on {} sets in {} steps; {} sets were skipped, since all their responses have the same rank. Equal ranks "
      "were ordered at random where the loss needs an order ({} times).\n"
      "{}{}\n\n{}\n## Config\n\n```yaml\n{}```\n",
      settings.joint
          ? "The model reads a response together with the responses before it, so its score depends on them."
          : "The model reads each response with the prompt alone, so its score does not depend on other responses.",
      settings.base.filename().string(), settings.lora.rank,
      agents::head_names()[static_cast<std::size_t>(settings.head)],
      settings.representation == agents::Representation::last ? "" : "s",
      agents::representation_names()[static_cast<std::size_t>(settings.representation)], notes.at("sets").get<int>(),
      notes.at("steps").get<int>(), notes.at("passed_over").get<int>(), notes.at("ties_drawn").get<int>(),
      made_by(notes), probability(notes), held_out_table(notes.at("held_out")), agents::to_yaml(notes.at("config")));
  write_file_atomically((folder / "README.md").string(), text);
}

void write_judge_card(const std::filesystem::path& folder, const RewardTrainingConfig& config, const Json& notes) {
  const bool pairs = config.judge == JudgeForm::pairs;
  const std::string text = fmt::format(
      "# A judge\n\n"
      "It {}, pictures included.\n\n"
      "    agon eval-rm {} . --file preferences.jsonl  # in this folder\n\n"
      "Trained by imitation from `{}`, every weight of it: {} lessons on {} sets in {} steps.\n{}\n"
      "## Config\n\n```yaml\n{}```\n",
      pairs ? "says which of two responses to a prompt is better, [[A]] or [[B]]"
            : "names the best of several responses to a prompt by its letter, as in [[A]]",
      pairs ? "--judge" : "--choose", config.network.base.filename().string(), notes.at("samples").get<std::int64_t>(),
      notes.at("sets").get<std::int64_t>(), notes.at("steps").get<std::int64_t>(), made_by(notes),
      agents::to_yaml(config.source));
  write_file_atomically((folder / "README.md").string(), text);
}

}  // namespace agon::critic
