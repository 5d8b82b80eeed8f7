#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/report_data.h"
#include "cli/report_page.h"
#include "core/error.h"
#include "core/text.h"
#include "env/episode_store.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct ReportFlags {
  std::string run, out;
};

// The run itself must outlive its report.
void check_target(const fs::path& out, const fs::path& run) {
  std::error_code code;
  for (const char* own : {"run.sqlite", "run.sqlite-wal", "run.sqlite-shm", "config.json", "lock"})
    if (fs::equivalent(out, run / own, code))
      throw Error("report: {} is a file of the run itself. Choose another --out.", out.string());
}

void report(const ReportFlags& flags) {
  const fs::path folder = fs::absolute(flags.run).lexically_normal();
  const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
  const fs::path out = flags.out.empty() ? fs::path(flags.run) / "report.html" : fs::path(flags.out);
  check_target(out, flags.run);
  const Json data = report_data(*env::RunReader::open(flags.run), name);
  write_file_atomically(out.string(), report_page(data));
  fmt::print("report: {}\n", out.string());
}

}  // namespace

void add_report(CLI::App& app) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = app.add_subcommand("report", "Write a run's report: one HTML file that needs no network");
  command->add_option("RUN", flags->run, "run folder")->required();
  command->add_option("--out", flags->out, "file to write (default: RUN/report.html)");
  command->callback([flags] { report(*flags); });
}

}  // namespace agon::cli
