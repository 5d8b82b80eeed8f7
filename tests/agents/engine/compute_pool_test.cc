#include "agents/engine/compute_pool.h"

#include <catch2/catch.hpp>
#include <stdexcept>

using agon::agents::ComputePool;

TEST_CASE("compute pool: every item is done once, whatever the sizes") {
  ComputePool pool(GENERATE(1, 2, 5));
  const std::int64_t count = GENERATE(0, 1, 2, 7, 1000), grain = GENERATE(1, 3, 2000);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
    pool.run(count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    for (const auto& visit : visits) REQUIRE(visit == 1);
  }
}

TEST_CASE("compute pool: jobs follow one another closely without mixing") {
  ComputePool pool(4);
  std::int64_t expected = 0;
  std::atomic<std::int64_t> total{0};
  for (std::int64_t job = 0; job < 50000; ++job) {
    const std::int64_t count = job * job % 23 + 1;
    pool.run(count, 1, [&, job](std::int64_t begin, std::int64_t end) { total += (end - begin) * job; });
    expected += count * job;
    REQUIRE(total == expected);
  }
}

TEST_CASE("compute pool: the first exception reaches the caller and the pool works on") {
  ComputePool pool(3);
  std::atomic<int> others{0};
  CHECK_THROWS_WITH(pool.run(100, 1,
                             [&](std::int64_t begin, std::int64_t) {
                               if (begin == 42) throw std::runtime_error("forty-two");
                               ++others;
                             }),
                    "forty-two");
  CHECK(others == 99);
  int done = 0;
  pool.run(1, 1, [&](std::int64_t, std::int64_t) { ++done; });
  CHECK(done == 1);
}
