#include "cli/tables/ranking_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace agon::cli {
namespace {

std::string number(const Json& value) { return value.is_number() ? fmt::format("{:.3f}", value.get<double>()) : "-"; }

std::string line(const std::string& name, const Json& row, const std::string& interval, const std::string& macro) {
  return fmt::format("  {:<24} {:>6} {:>9} {:<16} {:>7} {:>9} {:>7}\n", name, row.at("n").get<std::int64_t>(),
                     number(row.at("best_of_n")), interval, macro, number(row.at("pairwise")),
                     number(row.at("kendall_tau")));
}

}  // namespace

std::string ranking_table(const Json& rows) {
  std::string text = fmt::format("  {:<24} {:>6} {:>9} {:<16} {:>7} {:>9} {:>7}\n", "", "sets", "best of N", "",
                                 "macro", "pairwise", "tau");
  for (const Json& row : rows) {
    const Json& figures = row.at("figures");
    text = text + row.at("model").get<std::string>() + " on " + row.at("data").get<std::string>() + "\n";
    text += line("all", figures, fmt::format("[{}, {}]", number(figures["ci"][0]), number(figures["ci"][1])),
                 number(figures.at("macro")));
    if (figures.at("by_category").size() < 2) continue;
    for (const auto& [category, own] : figures["by_category"].items()) text += line(category, own, "", "");
  }
  return text;
}

std::string verdicts_text(const Json& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts.items())
    parts.push_back(fmt::format("{} {}", count.get<std::int64_t>(), name));
  return fmt::format("verdicts: {}", fmt::join(parts, ", "));
}

}  // namespace agon::cli
