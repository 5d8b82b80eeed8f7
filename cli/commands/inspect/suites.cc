#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/json.h"
#include "env/suite.h"

namespace agon::cli {
namespace {

Json suites_json(const std::vector<env::SuiteInfo>& suites) {
  Json list = Json::array();
  for (const env::SuiteInfo& suite : suites)
    list.push_back({{"name", suite.name},
                    {"description", suite.description},
                    {"levels", suite.levels},
                    {"default_level", suite.default_level},
                    {"test_tasks", suite.test_tasks},
                    {"train_split", suite.has_train_split},
                    {"max_turns", suite.max_turns},
                    {"metric", suite.metric},
                    {"instructions", suite.instructions}});
  return list;
}

void print_table(const std::vector<env::SuiteInfo>& suites) {
  fmt::print("{:<10} {:>6} {:>7} {:>10} {:>5}  {:<8}  {}\n", "suite", "levels", "default", "test tasks", "turns",
             "metric", "what it asks");
  for (const env::SuiteInfo& suite : suites)
    fmt::print("{:<10} {:>6} {:>7} {:>10} {:>5}  {:<8}  {}\n", suite.name, suite.levels, suite.default_level,
               suite.test_tasks, suite.max_turns, suite.metric, suite.description);
}

}  // namespace

void add_suites(CLI::App& app) {
  CLI::App* command = app.add_subcommand("suites", "List the suites: levels, test tasks, turns and metric");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one JSON array");
  command->callback([json] {
    std::vector<env::SuiteInfo> suites;
    for (const std::string& name : env::suite_names()) suites.push_back(env::Suite(name).info());
    if (*json)
      print_measured(suites_json(suites));
    else
      print_table(suites);
  });
}

}  // namespace agon::cli
