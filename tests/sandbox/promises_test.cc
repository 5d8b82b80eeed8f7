// Compares the table "What holds at each tier" of docs/sandbox.md line by line with the abuse suite, which has to prove
// it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/text.h"
#include "paths.h"

namespace fs = std::filesystem;
using agon::read_file;
using agon::split;
using agon::split_words;

namespace {

struct Promise {
  std::string text, tiers;  // "ABC": the tiers at which it holds
  std::vector<std::string> cases;
};

std::vector<Promise> promises() {
  std::vector<Promise> found;
  bool inside = false;
  for (const std::string& line : split(read_file(agon::test::source_path("docs/sandbox.md")), "\n")) {
    inside = line.starts_with("| promise ") || (inside && line.starts_with("|"));
    if (!inside || !line.ends_with(" |") || line.starts_with("|---") || line.starts_with("| promise ")) continue;
    const std::vector<std::string> cells = split(line, " | ");
    REQUIRE(cells.size() == 5);
    Promise promise{cells[0].substr(2), "", split_words(cells[4].substr(0, cells[4].size() - 2))};
    for (std::size_t tier = 0; tier < 3; ++tier) {
      INFO(line);
      REQUIRE((cells[1 + tier] == "yes" || cells[1 + tier] == "no" || cells[1 + tier] == "-"));
      if (cells[1 + tier] == "yes") promise.tiers += "ABC"[tier];
    }
    found.push_back(promise);
  }
  return found;
}

// The tiers of each numbered case.
std::map<std::string, std::string> tiers_of_cases() {
  std::map<std::string, std::string> tiers;
  for (const auto& entry : fs::directory_iterator(agon::test::source_path("tests/sandbox/abuse"))) {
    const std::string name = entry.path().filename();
    if (!std::isdigit(static_cast<unsigned char>(name[0]))) continue;
    for (const std::string& line : split(read_file(entry.path()), "\n"))
      if (line.starts_with("# tiers: ")) tiers[name.substr(0, name.find('_'))] = line.substr(9);
  }
  return tiers;
}

}  // namespace

TEST_CASE("what docs/sandbox.md promises at a tier is shown there by every case that it names") {
  const std::map<std::string, std::string> tiers = tiers_of_cases();
  REQUIRE(tiers.size() >= 110);
  std::set<std::string> named;
  const std::vector<Promise> all = promises();
  REQUIRE(all.size() >= 20);
  for (const Promise& promise : all) {
    INFO(promise.text);
    CHECK_FALSE(promise.cases.empty());
    for (const std::string& name : promise.cases) {
      INFO("case " << name);
      named.insert(name);
      REQUIRE(tiers.contains(name));
      CHECK(tiers.at(name) == promise.tiers);
    }
  }
  for (const auto& [name, held] : tiers) {
    INFO("case " << name << " is in no line");
    CHECK(named.contains(name));
  }
}
