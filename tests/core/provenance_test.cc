#include "core/provenance.h"

#include <catch2/catch.hpp>

using agon::Json;

TEST_CASE("provenance: says who, what, when and where, and what it was about") {
  CHECK(agon::provenance({{"policy", "p"}}) == Json{{"policy", "p"}});  // this process is not the program
  CHECK(agon::provenance_text(agon::provenance()).empty());
  agon::set_program("1.2.3", "0123456789ab", {"agon", "run", "--set", "a b", "it's", ""});
  const Json record = agon::provenance({{"policy", {{"path", "/m"}, {"files", "00ff"}}}});
  CHECK(record.at("version") == "1.2.3");
  CHECK(record.at("commit") == "0123456789ab");
  CHECK(record.at("command") == R"(agon run --set 'a b' 'it'\''s' '')");
  CHECK(record.at("date").get<std::string>().size() == std::string("2026-01-31T23:59:59Z").size());
  CHECK(record.at("machine").at("cores").get<int>() >= 1);
  CHECK(record.at("machine").at("memory_gib").get<double>() > 0);
  CHECK(record.at("policy").at("path") == "/m");
  CHECK_THAT(agon::provenance_text(record), Catch::StartsWith("agon 1.2.3 (commit 0123456789ab), 20") &&
                                                Catch::EndsWith("cores): " + record.at("command").get<std::string>()));
  agon::set_program("", "", {});
}

TEST_CASE("provenance: is no part of what is done") {
  const Json config{{"seed", 1}, {agon::kProvenance, {{"command", "x"}}}};
  CHECK(agon::without_provenance(config) == Json{{"seed", 1}});
  CHECK(agon::without_provenance(Json()) == Json());
}
