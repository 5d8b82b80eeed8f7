#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/usage.h"
#include "cli/report/data.h"
#include "cli/report/page.h"
#include "cli/search_config.h"
#include "core/error.h"
#include "core/file.h"
#include "core/paths.h"
#include "record/episode_store.h"
#include "record/run_kind.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;
using record::RunKind;

struct ReportFlags {
  std::string run, out, file, search;
  std::vector<std::string> compare;
};

// The report must not overwrite a file of the run.
void check_target(const fs::path& out, const fs::path& run) {
  std::error_code code;
  for (const fs::directory_entry& own : fs::directory_iterator(run, code))
    if (own.path().extension() != ".html" && fs::equivalent(out, own.path(), code))
      throw Error("report: {} is a file of the run itself. Choose another --out.", out.string());
}

std::string name_of(const fs::path& run) {
  const fs::path folder = fs::absolute(run).lexically_normal();
  return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

Json data_of(const CLI::App& command, const ReportFlags& flags) {
  std::vector<std::unique_ptr<record::RunReader>> readers;
  std::vector<OtherRun> others;
  require_each_path_once("report", "--compare", flags.compare);
  for (const std::string& other : flags.compare) {
    if (repeated_path(std::vector<fs::path>{flags.run, other}))
      throw WrongUsage("report: --compare {} is the run itself. Leave it out, or name another.", other);
    readers.push_back(record::RunReader::open(other));
    others.push_back({name_of(other), readers.back().get()});
  }
  const std::optional<RunKind> kind = record::run_kind_in(flags.run);
  if (flags.compare.empty() && kind == RunKind::training_log) {
    require_used(command, {{"--file", false, "for a training run"}, {"--search", false, "for a training run"}});
    return training_log_data(flags.run, name_of(flags.run));
  }
  const auto run = record::RunReader::open(flags.run);
  const bool is_search = kind == RunKind::search;
  if (!others.empty() && !is_search)
    throw Error("report: --compare is for searches, and {} is not a search. `agon eval` compares policies.", flags.run);
  const Json config = run->config();
  require_used(command,
               {{"--file", is_search && config.contains("file"), "for a run that is not a search of a task file"},
                {"--search", is_search && config.contains("search"), "for a run whose tasks search nowhere"}});
  const MovedInputs moved{flags.file, flags.search};
  if (!moved.file.empty() || !moved.search.empty()) search_options_in(config, moved);  // throws if they are wrong
  return report_data(*run, name_of(flags.run), {}, others, moved);
}

void report(const CLI::App& command, const ReportFlags& flags) {
  const fs::path out = flags.out.empty() ? fs::path(flags.run) / "report.html" : fs::path(flags.out);
  check_target(out, flags.run);
  const Json data = data_of(command, flags);
  write_file_atomically(out.string(), report_page(data));
  fmt::print("report: {}\n", out.string());
}

}  // namespace

void add_report(CLI::App& app) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = app.add_subcommand("report", "Write the report of a run, one HTML file");
  command->add_option("RUN", flags->run, "Run folder, or the folder of a training run with a log (train.jsonl)")
      ->required();
  command->add_option("--compare", flags->compare, "Run folder of a search of the same tasks to draw next to RUN")
      ->type_name("<path>");
  command->add_option("--file", flags->file, "Task file of a search, if it has moved")->type_name("<path>");
  command->add_option("--search", flags->search, "Index file or server of a search, if it has moved (suite questions)")
      ->type_name("<where>");
  command->add_option("--out", flags->out, "HTML file to write (default: RUN/report.html)")->type_name("<path>");
  command->callback([flags, command] { report(*command, *flags); });
}

}  // namespace agon::cli
