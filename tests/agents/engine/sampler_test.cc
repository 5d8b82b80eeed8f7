#include "agents/engine/sampler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "golden/checkpoint.h"

using namespace agon;
using namespace agon::agents;

namespace {

const std::vector<float> kLogits{1, 3, 2, 3, -1, 0.5f};

std::vector<std::int32_t> all_ids() {
  std::vector<std::int32_t> ids(kLogits.size());
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::map<std::int32_t, double> frequencies(const Sampling& sampling, const std::vector<std::int32_t>& allowed) {
  constexpr int kDraws = 40000;
  Rng rng(3);
  SamplerScratch scratch;
  std::map<std::int32_t, double> found;
  for (int i = 0; i < kDraws; ++i) found[sample_token(kLogits, allowed, sampling, rng, scratch).id] += 1.0 / kDraws;
  return found;
}

double probability(std::int32_t id, double temperature, const std::vector<std::int32_t>& among) {
  double total = 0;
  for (const std::int32_t other : among)
    total += std::exp(static_cast<double>(kLogits[static_cast<std::size_t>(other)]) / temperature);
  return std::exp(static_cast<double>(kLogits[static_cast<std::size_t>(id)]) / temperature) / total;
}

using Ids = std::vector<std::int32_t>;

// A model with random logits that depend on all tokens so far. It writes until kEnd or kLength.
struct WrittenModel {
  static constexpr int kLength = 3, kEnd = 5;
  int seed;

  std::vector<float> logits(const Ids& written) const {
    std::uint64_t state = static_cast<std::uint64_t>(seed);
    for (const std::int32_t id : written) state = state * 31 + static_cast<std::uint64_t>(id) + 1;
    Rng rng(state);
    std::vector<float> drawn(kLogits.size());
    for (float& logit : drawn) logit = static_cast<float>(6 * rng.uniform());
    return drawn;
  }

  double logprob(const Ids& ids) const {
    SamplerScratch scratch;
    double sum = 0;
    for (std::size_t i = 0; i < ids.size(); ++i)
      sum += static_cast<double>(token_logprob(logits({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(i)}), {},
                                               ids[i], 1.0, 0, scratch));
    return sum;
  }

  Ids greedy_from(Ids ids) const {
    while (!is_over(ids)) {
      const std::vector<float> next = logits(ids);
      ids.push_back(static_cast<std::int32_t>(std::max_element(next.begin(), next.end()) - next.begin()));
    }
    return ids;
  }

  // Among all beginnings that branch off an excluded one at their last token and do not contain one: the most likely,
  // continued greedily. Empty if everything is excluded.
  Ids likeliest_way_out(const std::vector<Beginning>& excluded) const {
    Ids best;
    std::vector<Ids> open{{}};
    while (!open.empty()) {
      Ids ids = open.back();
      open.pop_back();
      for (ids.push_back(0); ids.back() < std::ssize(kLogits); ++ids.back()) {
        const auto begins_it = [&](const Beginning& one) { return starts_with(one.token_ids, ids); };
        const auto is_in_it = [&](const Beginning& one) { return starts_with(ids, one.token_ids); };
        if (std::any_of(excluded.begin(), excluded.end(), is_in_it)) continue;
        if (std::any_of(excluded.begin(), excluded.end(), begins_it))
          open.push_back(ids);
        else if (best.empty() || logprob(ids) > logprob(best))
          best = ids;
      }
    }
    return best.empty() ? best : greedy_from(best);
  }

  static bool is_over(const Ids& ids) { return ids.size() == kLength || (!ids.empty() && ids.back() == kEnd); }

  static bool starts_with(const Ids& ids, const Ids& beginning) {
    return ids.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), ids.begin());
  }
};

}  // namespace

TEST_CASE("sampler: draws follow the tempered softmax over the allowed ids") {
  const double temperature = GENERATE(0.5, 1.0, 3.0);
  const std::vector<std::int32_t> allowed{0, 2, 3, 5};
  const auto found = frequencies({.temperature = temperature}, allowed);
  CHECK(found.size() == 4);
  for (const auto& [id, share] : found) CHECK(share == Approx(probability(id, temperature, allowed)).margin(0.012));
}

TEST_CASE("sampler: top-k keeps the likeliest, the first of equal ones, top-p the fewest that hold the mass",
          "[long]") {
  CHECK(frequencies({.top_k = 1}, all_ids()) ==
        std::map<std::int32_t, double>{{1, frequencies({.top_k = 1}, all_ids())[1]}});
  const auto three = frequencies({.top_k = 3}, all_ids());
  CHECK(three.size() == 3);
  for (const auto& [id, share] : three) CHECK(share == Approx(probability(id, 1.0, {1, 2, 3})).margin(0.012));
  // 1 and 3 hold 0.76 of the mass, 2 brings it to 0.90.
  CHECK(frequencies({.top_p = 0.7}, all_ids()).size() == 2);
  CHECK(frequencies({.top_p = 0.8}, all_ids()).size() == 3);
  CHECK(frequencies({.top_p = 1e-9}, all_ids()).size() == 1);
  CHECK(frequencies({.top_p = 0.8, .top_k = 2}, all_ids()).size() == 2);  // within the two, 0.8 needs both
  CHECK(frequencies({.top_k = 100}, all_ids()).size() == 6);
}

TEST_CASE("sampler: log-probabilities are of the whole model's softmax, before any cut") {
  Rng rng(1);
  SamplerScratch scratch;
  const SampledToken token =
      sample_token(kLogits, std::vector<std::int32_t>{2}, {.temperature = 2.0, .top_k = 1}, rng, scratch);
  CHECK(token.id == 2);
  CHECK(token.logprob == Approx(std::log(probability(2, 2.0, all_ids()))).epsilon(1e-5));
  const std::vector<std::int32_t> allowed = {0, 1, 2};
  CHECK(token_logprob(kLogits, allowed, 2, 2.0, 2, scratch) == token.logprob);
  CHECK(scratch.alternatives.size() == 2);
}

TEST_CASE("sampler: greedy takes the first maximum among the allowed, at the log-probability of T = 1") {
  Rng rng(1);
  SamplerScratch scratch;
  const SampledToken token = sample_token(kLogits, all_ids(), {.temperature = 0}, rng, scratch);
  CHECK(token.id == 1);
  CHECK(token.logprob == Approx(std::log(probability(1, 1.0, all_ids()))).epsilon(1e-5));
  CHECK(sample_token(kLogits, std::vector<std::int32_t>{0, 2, 3}, {.temperature = 0}, rng, scratch).id == 3);
}

TEST_CASE("sampler: without what is excluded, the others are as likely among themselves as before") {
  const double temperature = GENERATE(0.5, 1.0);
  const auto logprob = [&](std::int32_t id) {
    return static_cast<float>(std::log(probability(id, temperature, all_ids())));
  };
  const std::vector<Beginning> excluded{
      {{1, 3}, {logprob(1), logprob(3)}, {}}, {{1, 2}, {logprob(1), logprob(2)}, {}}, {{2}, {logprob(2)}, {}}};
  double left = 1;
  Sampling sampling;
  sampling.temperature = temperature;
  sampling.excluded = excluded;
  for (const Beginning& beginning : excluded)
    left -= std::exp(static_cast<double>(std::accumulate(beginning.logprobs.begin(), beginning.logprobs.end(), 0.0F)));
  Rng rng(5);
  SamplerScratch scratch;
  std::map<std::vector<std::int32_t>, double> found;  // of two tokens
  constexpr int kDraws = 40000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<std::int32_t> written;
    while (written.size() < 2) {
      withhold(sampling, written, scratch);
      written.push_back(sample_token(kLogits, all_ids(), sampling, rng, scratch).id);
    }
    found[written] += 1.0 / kDraws;
  }
  for (const std::int32_t first : all_ids())
    for (const std::int32_t second : all_ids()) {
      const bool gone = first == 2 || (first == 1 && (second == 3 || second == 2));
      const double whole = std::exp(static_cast<double>(logprob(first)) + static_cast<double>(logprob(second)));
      INFO(first << " " << second);
      if (gone)
        CHECK(found.count({first, second}) == 0);
      else
        CHECK(found[{first, second}] == Approx(whole / left).margin(0.012));
    }
}

TEST_CASE("sampler: greedy without what is excluded takes the likeliest of the rest, and says so where none is left") {
  Rng rng(1);
  SamplerScratch scratch;
  Sampling greedy;
  greedy.temperature = 0;
  greedy.excluded = {{{1}, {-1}, {}}, {{3, 0}, {-0.01F, -0.01F}, {}}};
  withhold(greedy, {}, scratch);
  CHECK(sample_token(kLogits, all_ids(), greedy, rng, scratch).id == 2);
  CHECK(sample_token(kLogits, std::vector<std::int32_t>{1}, greedy, rng, scratch).id == 1);
  withhold(greedy, std::vector<std::int32_t>{4}, scratch);
  CHECK(scratch.withheld.empty());
  const SampledToken told = sample_token(kLogits, all_ids(), {.temperature = 0, .greedy_logprobs_at = 2}, rng, scratch);
  CHECK(told.logprob == Approx(std::log(probability(1, 2.0, all_ids()))).epsilon(1e-5));
}

TEST_CASE("sampler: no completion branches off to what is next to impossible") {
  SamplerScratch scratch;
  for (const float logprob : {-20.0F, -3.0F}) {
    Sampling greedy{.temperature = 0};
    greedy.excluded = {{{1, 2}, {-0.1F, -0.1F}, {{{1, -0.1F}}, {{2, -0.1F}, {3, logprob}}}}};
    withhold(greedy, {}, scratch);
    CHECK(scratch.way_out.has_value() == (logprob > kLeastAlternative));
  }
}

TEST_CASE("sampler: each token has the requested number of alternatives, most likely first") {
  Rng rng(1);
  SamplerScratch scratch;
  sample_token(kLogits, all_ids(), {.temperature = 0, .alternatives = 4}, rng, scratch);
  REQUIRE(scratch.alternatives.size() == 4);
  const std::vector<std::int32_t> expected{1, 3, 2, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(scratch.alternatives[i].id == expected[i]);
    CHECK(static_cast<double>(scratch.alternatives[i].logprob) ==
          Approx(std::log(probability(expected[i], 1.0, all_ids()))).epsilon(1e-5));
  }
  sample_token(std::vector<float>{0, 20, 1}, std::vector<std::int32_t>{0, 1, 2}, {.alternatives = 9}, rng, scratch);
  CHECK(scratch.alternatives.size() == 3);
  sample_token(kLogits, all_ids(), {}, rng, scratch);
  CHECK(scratch.alternatives.empty());
}

TEST_CASE("sampler: greedy leaves what is excluded where that is likeliest, as brute force does") {
  const WrittenModel model{GENERATE(range(0, 30))};
  Sampling greedy{.temperature = 0, .excluded = {}, .alternatives = 6};
  SamplerScratch scratch;
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    const Ids expected = model.likeliest_way_out(greedy.excluded);
    if (expected.empty()) break;
    Beginning one;
    while (!WrittenModel::is_over(one.token_ids)) {
      withhold(greedy, one.token_ids, scratch);
      const SampledToken token = sample_token(model.logits(one.token_ids), all_ids(), greedy, rng, scratch);
      one.token_ids.push_back(token.id);
      one.logprobs.push_back(token.logprob);
      one.alternatives.push_back(scratch.alternatives);
    }
    INFO("model " << model.seed << " round " << round);
    REQUIRE(one.token_ids == expected);
    if (one.token_ids.size() > 1 && one.token_ids.back() == WrittenModel::kEnd) {  // only the end token differs
      one.token_ids.pop_back();
      one.logprobs.pop_back();
      one.alternatives.pop_back();
    }
    greedy.excluded.push_back(one);
  }
}

TEST_CASE("sampler: a temperature near zero, and allowed ids that weigh nothing, still give an allowed id") {
  Rng rng(1);
  SamplerScratch scratch;
  CHECK(sample_token(kLogits, all_ids(), {.temperature = 1e-300}, rng, scratch).id % 2 == 1);
  std::vector<float> far{0, -1000, -900};
  CHECK(sample_token(far, std::vector<std::int32_t>{1, 2}, {}, rng, scratch).id == 2);
}

TEST_CASE("sampler: logits that are no numbers are an error, not a token") {
  Rng rng(1);
  SamplerScratch scratch;
  std::vector<float> logits(40, 1.0f);
  logits[17] = GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity());
  const std::vector<std::int32_t> allowed{0, 1};
  CHECK_THROWS_WITH(sample_token(logits, allowed, {}, rng, scratch), Catch::Contains("not finite"));
}

TEST_CASE("sampler: where every allowed id is banned, none is drawn") {
  Rng rng(1);
  SamplerScratch scratch;
  constexpr float kBanned = -std::numeric_limits<float>::infinity();
  const std::vector<float> logits{1, kBanned, kBanned};
  for (const double temperature : {0.0, 1.0})
    CHECK_THROWS_WITH(sample_token(logits, std::vector<std::int32_t>{1, 2}, {.temperature = temperature}, rng, scratch),
                      Catch::Contains("Ban fewer"));
}

TEST_CASE("sampler: special tokens and ids without a token are not sampleable, eos is") {
  ModelConfig config;
  config.text.vocab_size = 48;
  config.eos_token_ids = {44};
  const auto allowed = sampleable_ids(test::LetterTokenizer(), config);
  REQUIRE(allowed.size() == 41);
  CHECK(allowed[39] == 39);
  CHECK(allowed[40] == 44);
}
