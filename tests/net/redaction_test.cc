#include "net/redaction.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

using namespace agon::net;
using Catch::Contains;

TEST_CASE("a key comes from the environment, and one that no header carries is refused without being shown") {
  constexpr const char* kVariable = "AGON_TEST_REDACTION_KEY";
  const auto read = [&](const std::string& key) {
    ::setenv(kVariable, key.c_str(), 1);
    return key_in_environment(kVariable, "policy: the key of X");
  };
  CHECK(key_in_environment("", "policy: the key of X").empty());
  CHECK(read(" sk-4711~ \n") == "sk-4711~");
  CHECK_THROWS_WITH(read(""), Contains("is empty"));
  CHECK_THROWS_WITH(read("sk-4711\nsk-4712"), Contains("several lines"));
  for (const char* key : {"sk-cl\u00e9-4711", "sk-\xe9-4711", "sk-\x01-4711", "sk-\x7f-4711", "sk\t4711"})
    CHECK_THROWS_WITH(read(key), Contains("beyond printable ASCII") && !Contains("4711"));
  ::unsetenv(kVariable);
}
