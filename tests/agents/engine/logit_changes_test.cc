#include "agents/engine/logit_changes.h"

#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <set>

#include "agents/engine/sampler.h"
#include "core/json.h"
#include "core/text.h"
#include "paths.h"

using namespace agon;
using namespace agon::agents;

namespace {

using Ids = std::vector<std::int32_t>;

const Json& golden() {
  static const Json read = Json::parse(read_file(test::golden_path("logit_changes/logit_changes.json")));
  return read;
}

}  // namespace

TEST_CASE("logit changes: a repetition penalty is that of transformers") {
  for (const Json& one : golden()["changes"]) {
    std::vector<float> changed;
    change_logits({.repetition_penalty = one["repetition_penalty"]}, one["prompt"].get<Ids>(),
                  one["written"].get<Ids>(), one["logits"].get<std::vector<float>>(), changed);
    const auto expected = one["changed"].get<std::vector<float>>();
    for (std::size_t id = 0; id < expected.size(); ++id) CHECK(changed[id] == Approx(expected[id]).epsilon(1e-6));
  }
}

TEST_CASE("logit changes: which tokens may be drawn is as in transformers: top_k, then top_p, then min_p") {
  for (const Json& one : golden()["cuts"]) {
    CAPTURE(one["top_k"], one["top_p"], one["min_p"], one["temperature"]);
    const auto logits = one["logits"].get<std::vector<float>>();
    Ids allowed(logits.size());
    std::iota(allowed.begin(), allowed.end(), 0);
    const Sampling sampling{
        .temperature = one["temperature"], .top_p = one["top_p"], .top_k = one["top_k"], .min_p = one["min_p"]};
    Rng rng(1);
    SamplerScratch scratch;
    std::set<std::int32_t> drawn;
    for (int i = 0; i < 20'000; ++i) drawn.insert(sample_token(logits, allowed, sampling, rng, scratch).id);
    const Ids ids = one["ids"].get<Ids>();
    CHECK(drawn == std::set<std::int32_t>(ids.begin(), ids.end()));
  }
}

TEST_CASE("logit changes: presence counts once, frequency each time, a bias last; the prompt counts for neither") {
  std::vector<float> changed;
  const std::vector<float> logits{1, 2, 3, 4};
  change_logits({.presence_penalty = 0.5, .frequency_penalty = 0.25, .bias = {{3, 10}}}, Ids{0, 0}, Ids{1, 1, 3},
                logits, changed);
  CHECK(changed == std::vector<float>{1, 1, 3, 13.25F});
  change_logits({.bias = {{2, -std::numeric_limits<float>::infinity()}}}, {}, {}, logits, changed);
  CHECK(changed[2] == -std::numeric_limits<float>::infinity());
}

TEST_CASE("logit changes: the last token of a banned run is not drawn behind the others") {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const std::vector<float> logits{1, 2, 3, 4};
  const LogitChanges changes{.banned = {{0}, {1, 2}, {3, 3, 3}}};
  const auto after = [&](const Ids& written) {
    std::vector<float> changed;
    change_logits(changes, Ids{1, 3, 3}, written, logits, changed);
    return changed;
  };
  CHECK(after({}) == std::vector<float>{kNever, 2, 3, 4});  // the prompt's own end does not count
  CHECK(after({1}) == std::vector<float>{kNever, 2, kNever, 4});
  CHECK(after({1, 3}) == std::vector<float>{kNever, 2, 3, 4});
  CHECK(after({1, 3, 3}) == std::vector<float>{kNever, 2, 3, kNever});
  CHECK_FALSE(changes.are_none());
}
