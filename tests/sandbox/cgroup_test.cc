#include "sandbox/launcher/isolation/cgroup.h"

#include <catch2/catch.hpp>

#include "core/error.h"

using namespace agon;
using namespace agon::sandbox::launcher;
using Catch::Contains;

TEST_CASE("a process's own cgroup is found through its line and the mount table") {
  const char* unified =
      "22 1 0:21 / /proc rw - proc proc rw\n"
      "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";
  CHECK(own_cgroup_folder("0::/user.slice/run-7.scope\n", unified) == "/sys/fs/cgroup/user.slice/run-7.scope");
  CHECK(own_cgroup_folder("0::/\n", unified) == "/sys/fs/cgroup/");
  const char* hybrid =
      "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "40 30 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  CHECK(own_cgroup_folder("4:memory:/a\n0::/b\n", hybrid) == "/sys/fs/cgroup/unified/b");
}

TEST_CASE("a mount of a part of the hierarchy, and a place with a blank") {
  const char* part = "30 23 0:26 /docker/77 /srv/my\\040groups rw - cgroup2 cgroup2 rw\n";
  CHECK(own_cgroup_folder("0::/docker/77/x\n", part) == "/srv/my groups/x");
  CHECK(own_cgroup_folder("0::/docker/77\n", part) == "/srv/my groups");
  CHECK_THROWS_WITH(own_cgroup_folder("0::/docker/778\n", part), Contains("/docker/778") && Contains("/srv/my groups"));
}

TEST_CASE("where there is no cgroup v2, it is said what is missing") {
  CHECK_THROWS_WITH(own_cgroup_folder("4:memory:/a\n", ""), Contains("no cgroup v2"));
  CHECK_THROWS_WITH(own_cgroup_folder("", ""), Contains("no cgroup v2"));
  CHECK_THROWS_WITH(own_cgroup_folder("0::/a\n", "22 1 0:21 / /proc rw - proc proc rw\n"),
                    Contains("no cgroup v2 is mounted"));
}
