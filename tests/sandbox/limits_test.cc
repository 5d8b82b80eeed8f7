#include "sandbox/limits.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "sandbox/result.h"

using namespace agon;
using namespace agon::sandbox;
using Catch::Contains;

TEST_CASE("limits are read with their units, on top of what holds already") {
  const Limits limits = parse_limits("wall=2.5,memory=256M,processes=4", parse_limits("wall=1,disk=1G"));
  CHECK(limits.wall == 2.5);
  CHECK(limits.memory == 256 << 20);
  CHECK(limits.processes == 4);
  CHECK(limits.disk == 1ll << 30);
  CHECK(limits.cpu == Limits().cpu);
  CHECK(parse_limits("").wall == Limits().wall);
}

TEST_CASE("limits that cannot be are refused with their names") {
  CHECK_THROWS_WITH(parse_limits("wal=2"), Contains("unknown limit 'wal'") && Contains("memory"));
  CHECK_THROWS_WITH(parse_limits("wall"), Contains("name=value"));
  CHECK_THROWS_WITH(parse_limits("wall=2s"), Contains("seconds"));
  CHECK_THROWS_WITH(parse_limits("memory=lots"), Contains("memory=lots"));
  CHECK_THROWS_WITH(parse_limits("wall=0"), Contains("must be from"));
  CHECK_THROWS_WITH(parse_limits("wall=nan"), Contains("must be from"));
  CHECK_THROWS_WITH(parse_limits("memory=1"), Contains("must be from"));
  CHECK_THROWS_WITH(parse_limits("processes=-3"), Contains("must be from"));
  CHECK_THROWS_WITH(limits_from_json({{"wall", "2"}}), Contains("number"));
}

TEST_CASE("limits survive JSON") {
  const Limits limits =
      parse_limits("wall=2.5,cpu=1,memory=300M,processes=4,file=1M,disk=2M,inodes=99,output=5000,kept_output=512");
  CHECK(to_json(limits_from_json(to_json(limits))) == to_json(limits));
}

TEST_CASE("reasons and tiers have one name each") {
  for (int i = 0; i <= static_cast<int>(Reason::sandbox_lost); ++i)
    CHECK(reason_from(to_string(static_cast<Reason>(i))) == static_cast<Reason>(i));
  for (const Tier tier : {Tier::a, Tier::b, Tier::c}) CHECK(tier_from(to_string(tier)) == tier);
  CHECK_THROWS_WITH(reason_from("fine"), Contains("fine"));
  CHECK_THROWS_WITH(tier_from("D"), Contains("D"));
  CHECK(weaker(Tier::c, Tier::b));
  CHECK_FALSE(weaker(Tier::a, Tier::b));
}
