#include <CLI/CLI.hpp>
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "agents/hub/hub_pull.h"
#include "cli/commands/commands.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "core/error.h"
#include "core/progress.h"
#include "net/http_client.h"

namespace agon::cli {
namespace {

void pull(const std::string& text) {
  const agents::HubName name = of_flags([&] { return agents::parse_hub_name(text); });
  std::optional<Progress> bar;
  std::string current;
  std::int64_t shown = 0;
  constexpr std::int64_t kMegabyte = 1'000'000;
  watch_interrupts();
  const net::HttpStop stop(interrupted());
  const auto show = [&](const std::string& file, std::int64_t done, std::int64_t all) {
    if (file != current) {
      bar.reset();
      bar.emplace("pull " + file, (all + kMegabyte - 1) / kMegabyte, "MB");
      current = file;
      shown = 0;
    }
    bar->add(done / kMegabyte - shown);
    shown = done / kMegabyte;
  };
  try {
    const auto place = agents::pull(agents::hub_server(), name, show);
    bar.reset();
    fmt::print("{}\n", place.string());
  } catch (const Error&) {
    if (!interrupted()) throw;
    throw Interrupted("pull: stopped. What has come is kept; the same command fetches the rest.");
  }
}

}  // namespace

void add_pull(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("pull", "Fetch a model of the Hugging Face hub into its cache");
  command
      ->add_option("NAME", *name,
                   "ORG/NAME, or ORG/NAME:FILE for one file; agon follows HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_CACHE "
                   "and HF_HUB_OFFLINE")
      ->type_name("<name>")
      ->required();
  command->callback([name] { pull(*name); });
}

}  // namespace agon::cli
