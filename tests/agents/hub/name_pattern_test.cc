#include "agents/hub/name_pattern.h"

#include <catch2/catch.hpp>

#include "core/error.h"

using agon::agents::NamePattern;
using Catch::Contains;

TEST_CASE("name pattern: whole names match, as re.fullmatch has it") {
  const NamePattern pattern(R"(model\.layers\.\d+\.(self_attn\.[qv]_proj|mlp\..*))");
  CHECK(pattern.matches("model.layers.12.self_attn.q_proj"));
  CHECK(pattern.matches("model.layers.0.mlp.up_proj"));
  CHECK_FALSE(pattern.matches("model.layers.12.self_attn.k_proj"));
  CHECK_FALSE(pattern.matches("model.layers.12.self_attn.q_proj.lora"));
  CHECK_FALSE(pattern.matches("a.model.layers.12.self_attn.q_proj"));
  CHECK(NamePattern("a|ab").matches("ab"));
  CHECK(NamePattern("(?!visual).*proj").matches("q_proj"));
  CHECK(NamePattern("").matches(""));
  const NamePattern copy = pattern;
  CHECK(copy.matches("model.layers.1.mlp.x"));
}

TEST_CASE("name pattern: what is no expression is named, with its place") {
  CHECK_THROWS_WITH(NamePattern("a(b"), Contains("'a(b' is not a regular expression") && Contains("at character 3"));
  CHECK_THROWS_WITH(NamePattern("*a"), Contains("at character 0"));
  CHECK_THROWS_AS(NamePattern("\xff"), agon::Error);
}

TEST_CASE("name pattern: one that takes for ever matches nothing") {
  CHECK_FALSE(NamePattern("(a+)+b").matches(std::string(64, 'a')));
  CHECK_FALSE(NamePattern("(a|a)*c").matches(std::string(5000, 'a')));
}
