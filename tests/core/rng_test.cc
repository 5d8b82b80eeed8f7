#include "core/rng.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

using agon::Rng;

TEST_CASE("equal arguments give equal streams, any other argument another one") {
  Rng a = Rng::derive(7, "sample", "charts/2/test/17", 3), b = Rng::derive(7, "sample", "charts/2/test/17", 3);
  for (int i = 0; i < 100; ++i) REQUIRE(a() == b());
  std::set<std::uint64_t> firsts{Rng::derive(7, "sample", "t", 3)(), Rng::derive(8, "sample", "t", 3)(),
                                 Rng::derive(7, "task", "t", 3)(), Rng::derive(7, "sample", "u", 3)(),
                                 Rng::derive(7, "sample", "t", 4)()};
  REQUIRE(firsts.size() == 5);
}

TEST_CASE("between covers its range evenly") {
  Rng rng(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[static_cast<std::size_t>(rng.between(-3, 3) + 3)];
  for (int count : counts) REQUIRE(std::abs(count - 10'000) < 500);
}

TEST_CASE("shuffle keeps every item") {
  std::vector<int> items(50);
  std::iota(items.begin(), items.end(), 0);
  Rng rng(2);
  rng.shuffle(items);
  REQUIRE_FALSE(std::is_sorted(items.begin(), items.end()));
  std::sort(items.begin(), items.end());
  for (int i = 0; i < 50; ++i) REQUIRE(items[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("fresh seeds differ, within a thread and between threads") {
  std::vector<std::vector<std::uint64_t>> drawn(4);
  std::vector<std::thread> threads;
  for (auto& mine : drawn)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 1000; ++i) mine.push_back(agon::fresh_seed());
    });
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& mine : drawn) all.insert(mine.begin(), mine.end());
  REQUIRE(all.size() == 4000);
}
