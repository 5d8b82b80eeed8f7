// agon score - scores responses to a prompt with a reward model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/flags/old_names.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "cli/tables/transcript.h"
#include "core/error.h"
#include "core/text.h"
#include "critic/reward_model/engine_reward_model.h"
#include "critic/reward_model/preference.h"

namespace agon::cli {
namespace {

struct ScoreFlags {
  std::string reward_model, file = "-";
  bool json = false;
};

std::string read_input(const std::string& file) {
  if (file != "-") return read_file(file);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

void score(const ScoreFlags& flags) {
  const std::filesystem::path folder = flags.file == "-" ? "." : std::filesystem::path(flags.file).parent_path();
  const critic::Candidates candidates =
      critic::read_candidates(read_input(flags.file), flags.file == "-" ? "standard input" : flags.file, folder);
  const auto model = critic::open_reward_model(find_reward_model(flags.reward_model));
  const std::vector<double> scores = model->score(std::span(&candidates, 1)).front();
  const auto best = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  if (flags.json) {
    Json about{{"reward_model", model_record(find_reward_model(flags.reward_model))}};
    if (flags.file != "-") about["file"] = file_record(flags.file);
    print_measured({{"scores", scores}, {"best", best}}, about);
    return;
  }
  for (std::size_t i = 0; i < scores.size(); ++i)
    std::cout << fmt::format("{} {:>8.3f}  {}\n", i == best ? "*" : " ", scores[i],
                             printable(fmt::format("{}", fmt::join(split_words(candidates.responses[i]), " "))));
  std::cout << std::flush;
}

}  // namespace

void add_score(CLI::App& app) {
  auto flags = std::make_shared<ScoreFlags>();
  CLI::App* command = app.add_subcommand("score", "Score responses to a prompt with a reward model");
  command->add_option("--reward-model", flags->reward_model, "Reward model folder (default: models/agon-tiny-reward)")
      ->type_name("<path>");
  command
      ->add_option(
          "FILE", flags->file,
          R"(JSON file {"prompt", "images": [paths relative to it], "responses": [text], "instructions"}; - for standard input)")
      ->capture_default_str();
  add_old_name(*command, "--rm", "--reward-model");
  command->add_flag("--json", flags->json, "Print one JSON object: scores, and best, the index of the highest");
  command->callback([flags] { score(*flags); });
}

}  // namespace agon::cli
