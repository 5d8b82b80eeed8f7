#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "tools/search/index_builder.h"
#include "tools/search/index_progress.h"

namespace agon::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct IndexFlags {
  std::string corpus, out;
  bool json = false;
};

void tell_broken(const IndexFlags& flags, const tools::IndexReport& report) {
  if (report.broken == 0) return;
  fmt::print(stderr, "agon: {}: {} broken lines were left out; the first of them:\n", flags.corpus, report.broken);
  for (const tools::BrokenLine& line : report.first_broken)
    fmt::print(stderr, "  line {}: {}\n", line.line, printable_line(line.fault));
}

Json report_json(const IndexFlags& flags, const tools::IndexReport& report, double seconds) {
  Json broken = Json::array();
  for (const tools::BrokenLine& line : report.first_broken)
    broken.push_back({{"line", line.line}, {"fault", line.fault}});
  return {{"index", flags.out},
          {"corpus", flags.corpus},
          {"documents", report.documents},
          {"words", report.words},
          {"vocabulary", report.vocabulary},
          {"bytes", std::filesystem::file_size(flags.out)},
          {"corpus_hash", report.corpus_hash},
          {"broken_lines", report.broken},
          {"first_broken", broken},
          {"seconds", seconds}};
}

void build(const IndexFlags& flags) {
  const auto start = Clock::now();
  const tools::IndexReport report = tools::build_search_index(flags.corpus, flags.out, tools::show_progress("index"));
  const Json figures = report_json(flags, report, std::chrono::duration<double>(Clock::now() - start).count());
  tell_broken(flags, report);
  if (flags.json)
    print_measured(figures);
  else
    fmt::print("{}: {} documents, {} words ({} different), {:.1f} MB, {:.1f} s\n", flags.out, report.documents,
               report.words, report.vocabulary, figures["bytes"].get<double>() / 1e6, figures["seconds"].get<double>());
}

}  // namespace

void add_index(CLI::App& app) {
  auto flags = std::make_shared<IndexFlags>();
  CLI::App* command = app.add_subcommand("index", "Build a search index from a file of documents");
  command
      ->add_option("DOCS", flags->corpus,
                   "File of documents: {\"id\", \"contents\"} or {\"id\", \"title\", \"text\"} per line")
      ->required();
  command->add_option("--out", flags->out, "Index file to write; one that exists is replaced")
      ->type_name("<path>")
      ->required();
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags] { build(*flags); });
}

}  // namespace agon::cli
