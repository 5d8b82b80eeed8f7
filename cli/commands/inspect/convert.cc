#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agents/engine/weights.h"
#include "agents/hub/convert_checkpoint.h"
#include "agents/hub/gguf/vision.h"
#include "agents/hub/model_folder.h"
#include "cli/commands/commands.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "core/error.h"
#include "core/progress.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct ConvertFlags {
  std::string from, to, type;
};

void convert(const ConvertFlags& flags) {
  const std::map<std::string, std::string> types{
      {"f32", "F32"}, {"f16", "F16"}, {"bf16", "BF16"}, {"q8", "Q8_0"}, {"q4", "Q4_0"}};
  const bool to_file = fs::path(flags.to).extension() == ".gguf";
  const std::string type = types.at(!flags.type.empty() ? flags.type : to_file ? "q8" : "bf16");
  if (!to_file && type.starts_with('Q'))
    throw WrongUsage("convert: a folder holds f32, f16 or bf16, and {} is asked for. Name a file that ends in .gguf.",
                     flags.type);
  if (fs::exists(flags.to)) throw Error("convert: {} is there already. Choose another place.", flags.to);
  if (to_file && fs::exists(agents::mmproj_of(flags.to)))
    throw Error("convert: {} is there already. Choose another name.", agents::mmproj_of(flags.to).string());
  const fs::path from = find_model_folder(flags.from);
  agents::check_engine_weights(from, agents::open_model_folder(from).config);
  watch_interrupts();
  std::optional<Progress> bar;
  std::size_t before = 0;
  const auto progress = [&](std::size_t done, std::size_t all) {
    if (interrupted()) throw Interrupted("convert: stopped; " + flags.to + " was not written.");
    if (!bar) bar.emplace("convert", static_cast<std::int64_t>(all), "tensors");
    bar->add(static_cast<std::int64_t>(done - before));
    before = done;
  };
  if (to_file)
    agents::write_gguf_file(from, flags.to, type, progress);
  else
    agents::write_hub_folder(from, flags.to, type, progress);
  bar.reset();
  fmt::print("convert: {}\n", flags.to);
}

}  // namespace

void add_convert(CLI::App& app) {
  auto flags = std::make_shared<ConvertFlags>();
  CLI::App* command = app.add_subcommand("convert", "Write a checkpoint as a model folder or as a GGUF file");
  command->add_option("FROM", flags->from, "Model folder or GGUF file")->type_name("<path>")->required();
  command
      ->add_option("TO", flags->to,
                   "Folder, or a file that ends in .gguf; a vision tower is written next to it, as mmproj-NAME.gguf")
      ->type_name("<path>")
      ->required();
  command
      ->add_option("--type", flags->type,
                   "Type of the weights: f32, f16 or bf16; in a GGUF file also q8 or q4 (default: bf16 in a folder, q8 "
                   "in a file)")
      ->type_name("<name>")
      ->check(one_of({"f32", "f16", "bf16", "q8", "q4"}));
  command->callback([flags] { convert(*flags); });
}

}  // namespace agon::cli
