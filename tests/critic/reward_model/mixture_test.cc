#include "critic/reward_model/mixture.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/error.h"

using namespace agon;
using namespace agon::critic;

namespace {

std::map<std::string, int> counts_of(const std::vector<std::string>& categories,
                                     const std::vector<std::size_t>& epoch) {
  std::map<std::string, int> counts;
  for (const std::size_t place : epoch) ++counts[categories.at(place)];
  return counts;
}

}  // namespace

TEST_CASE("mixture: shares go by the square roots of the sizes") {
  std::vector<std::string> categories(900, "large");
  categories.insert(categories.end(), 100, "small");
  const std::vector<std::size_t> epoch = mixed_epoch(categories, {}, 1, 0);
  REQUIRE(epoch.size() == 1000);
  const auto counts = counts_of(categories, epoch);
  CHECK(counts.at("large") == 750);  // 30 : 10
  CHECK(counts.at("small") == 250);
  // Each set of the small source comes two or three times, none of the large source twice.
  for (std::size_t place = 0; place < 1000; ++place) {
    const auto times = std::count(epoch.begin(), epoch.end(), place);
    CHECK((place < 900 ? times <= 1 : times == 2 || times == 3));
  }
  CHECK(counts_of(categories, mixed_epoch(categories, {{"small", 3}}, 1, 0)).at("small") == 500);
}

TEST_CASE("mixture: one category is a shuffle of it, another one every epoch") {
  const std::vector<std::string> categories(50, "all");
  std::vector<std::size_t> first = mixed_epoch(categories, {}, 1, 0), second = mixed_epoch(categories, {}, 1, 1);
  CHECK(first != second);
  CHECK(first == mixed_epoch(categories, {}, 1, 0));
  std::sort(first.begin(), first.end());
  for (std::size_t i = 0; i < 50; ++i) CHECK(first[i] == i);
  CHECK_THROWS_WITH(require_categories({{"al", 2}}, {"all"}), Catch::Contains("no 'al'. There are: all"));
  for (const double weight : {0.0, -1.0, 1e308, std::nan("")})
    CHECK_THROWS_WITH(require_categories({{"all", weight}}, {"all"}), Catch::Contains("'all' must lie between"));
  CHECK_NOTHROW(require_categories({{"held out", 2}}, {"all", "held out"}));
  CHECK(mixed_epoch(categories, {{"held out", 2}}, 1, 0).size() == categories.size());
}
