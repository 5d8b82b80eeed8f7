// agon score - what a reward model makes of responses to a prompt.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/play.h"
#include "cli/provenance.h"
#include "cli/transcript.h"
#include "core/error.h"
#include "core/text.h"
#include "critic/reward_model/preference.h"
#include "critic/reward_model/reward_model.h"

namespace agon::cli {
namespace {

struct ScoreFlags {
  std::string rm, file = "-";
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
  const auto model = critic::open_reward_model(find_reward_model(flags.rm));
  const std::vector<double> scores = model->score(std::span(&candidates, 1)).front();
  const auto best = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  if (flags.json) {
    Json about{{"verifier", model_record(find_reward_model(flags.rm))}};
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
  CLI::App* command = app.add_subcommand("score", "What a reward model makes of responses to a prompt");
  command->add_option("--rm", flags->rm, "folder of a reward model (models/agon-tiny-reward)");
  command
      ->add_option(
          "FILE", flags->file,
          R"(JSON: {"prompt", "images": [path beside the file], "responses": [text], "instructions"}; -: standard input)")
      ->capture_default_str();
  command->add_flag("--json", flags->json, "print {scores, best: which, from 0}")->group(kOutputFlags);
  command->callback([flags] { score(*flags); });
}

}  // namespace agon::cli
