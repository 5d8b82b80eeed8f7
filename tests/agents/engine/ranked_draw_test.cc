// Compares draws with top_k and top_p with draws from the sorted vocabulary.
#include "agents/engine/ranked_draw.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "agents/engine/sampler.h"
#include "core/error.h"
#include "kernels/softmax/softmax.h"

using namespace agon;
using namespace agon::agents;

namespace {

using Ids = std::vector<std::int32_t>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Row {
  std::string name;
  std::vector<float> logits;
};

std::vector<float> drawn(std::size_t size, std::uint64_t seed, const std::function<double(Rng&)>& value) {
  Rng rng(seed);
  std::vector<float> logits(size);
  for (float& logit : logits) logit = static_cast<float>(value(rng));
  return logits;
}

double normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(6.283185307179586 * rng.uniform());
}

// Distributions that are hard for a sort, a bucket or a sum.
std::vector<Row> rows_of(std::size_t size, std::uint64_t seed) {
  std::vector<Row> rows{
      {"all equal", std::vector<float>(size, -3.25F)},
      {"normal", drawn(size, seed, normal)},
      {"peaked", drawn(size, seed, [](Rng& rng) { return 20 * normal(rng); })},
      {"flat", drawn(size, seed, [](Rng& rng) { return 1 + 1e-5 * rng.uniform(); })},
      {"whole numbers", drawn(size, seed, [](Rng& rng) { return rng.between(-3, 3); })},
      {"two neighbours",
       drawn(size, seed, [](Rng& rng) { return rng.between(0, 1) ? 7.0F : std::nextafter(7.0F, 8.0F); })},
      {"zeros of both signs", drawn(size, seed, [](Rng& rng) { return rng.between(0, 1) ? 0.0 : -0.0; })},
      {"denormals", drawn(size, seed, [](Rng& rng) { return rng.between(-9, 9) * 1e-44; })},
      {"huge", drawn(size, seed, [](Rng& rng) { return 3e38 * (2 * rng.uniform() - 1); })},
      {"steps of a bucket", drawn(size, seed, [](Rng& rng) { return rng.between(-200, 0) / 32.0; })},
  };
  Row masked{"most at -inf", std::vector<float>(size, -kInfinity)};
  for (std::size_t i = 0; i < size; i += 7) masked.logits[i] = rows[1].logits[i];
  rows.push_back(std::move(masked));
  Row one{"one above -inf", std::vector<float>(size, -kInfinity)};
  one.logits[size / 2] = 2;
  rows.push_back(std::move(one));
  Row far{"one far above", rows[1].logits};
  far.logits[size / 3] = 90;
  rows.push_back(far);
  far.logits = rows[3].logits;  // flat
  far.logits[size / 3] = -90;
  rows.push_back({"flat, one far below", far.logits});
  return rows;
}

Ids sorted(Ids ids, const std::vector<float>& logits) {
  std::stable_sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  return ids;
}

// The result of a draw from the sorted list of allowed ids.
std::int32_t draw_sorted(double uniform, const std::vector<float>& logits, const std::vector<float>& weights,
                         std::span<const std::int32_t> ids, const Sampling& sampling) {
  const auto weight = [&](std::int32_t id) { return static_cast<double>(weights[static_cast<std::size_t>(id)]); };
  if (sampling.top_k > 0 && sampling.top_k < std::ssize(ids)) ids = ids.first(static_cast<std::size_t>(sampling.top_k));
  double mass = 0, reached = 0;
  for (const std::int32_t id : ids) mass += weight(id);
  if (sampling.top_p < 1) {
    std::size_t count = 0;
    while (count < ids.size() && (count == 0 || reached < sampling.top_p * mass)) reached += weight(ids[count++]);
    ids = ids.first(count);
    mass = reached;
  }
  if (sampling.min_p > 0) {
    const auto max = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
    const auto inverse = static_cast<double>(static_cast<float>(1 / sampling.temperature));
    const auto least = static_cast<float>(max + std::log(sampling.min_p) / inverse);
    std::size_t count = 0;
    mass = 0;
    for (; count < ids.size() && logits[static_cast<std::size_t>(ids[count])] >= least; ++count)
      mass += weight(ids[count]);
    ids = ids.first(count);
    if (ids.empty()) return -1;
  }
  double left = uniform * mass;
  std::int32_t last = -1;
  for (const std::int32_t id : ids) {
    if (weight(id) == 0) continue;
    last = id;
    if ((left -= weight(id)) < 0) break;
  }
  return last < 0 ? ids.front() : last;  // no id has weight: the most likely one
}

// A few draws with every sampling.
void check_row(const Row& row, const Ids& allowed, std::span<const Sampling> samplings, std::uint64_t seed) {
  const Ids order = sorted(allowed, row.logits);
  SamplerScratch scratch;
  std::vector<float> weights(row.logits.size());
  for (const Sampling& sampling : samplings) {
    const bool whole =
        sampling.top_p == 1 && sampling.min_p == 0 && (sampling.top_k == 0 || sampling.top_k >= std::ssize(allowed));
    if (whole) continue;  // drawn in the order of ids
    kernels::softmax_weights(row.logits.data(), std::ssize(row.logits), static_cast<float>(1 / sampling.temperature),
                             weights.data());
    for (int i = 0; i < 4; ++i) {
      Rng rng(++seed), same = rng;
      if (row.logits[static_cast<std::size_t>(order.front())] == -kInfinity) {  // all are banned
        REQUIRE_THROWS_WITH(sample_token(row.logits, allowed, sampling, rng, scratch), Catch::Contains("Ban fewer"));
        continue;
      }
      const std::int32_t id = sample_token(row.logits, allowed, sampling, rng, scratch).id;
      INFO(row.name << ", " << allowed.size() << " of " << row.logits.size() << ", top_p " << sampling.top_p
                    << ", top_k " << sampling.top_k << ", min_p " << sampling.min_p << ", T " << sampling.temperature
                    << ", draw " << i);
      const std::int32_t expected = draw_sorted(same.uniform(), row.logits, weights, order, sampling);
      REQUIRE(id == (expected < 0 ? order.front() : expected));  // none is likely enough: the most likely one
    }
  }
}

Ids every(std::size_t step, std::size_t size) {
  Ids ids;
  for (std::size_t id = 0; id < size; id += step) ids.push_back(static_cast<std::int32_t>(id));
  return ids;
}

}  // namespace

TEST_CASE("ranked draw: every choice is that of the sorted vocabulary") {
  const std::size_t size = GENERATE(1u, 2u, 17u, 700u, 3000u);
  std::vector<Sampling> samplings;
  for (const double top_p : {1e-12, 0.1, 0.5, 0.9, 0.95, 0.999, 1.0 - 1e-16, 1.0})
    for (const int top_k : {0, 1, 2, 40, 600, 2999})
      samplings.push_back(
          {.temperature = std::array{1.0, 0.3, 5.0}[samplings.size() % 3], .top_p = top_p, .top_k = top_k});
  for (const double min_p : {1e-30, 0.001, 0.05, 0.9, 1.0})
    for (const double top_p : {0.9, 1.0})
      for (const int top_k : {0, 40})
        samplings.push_back({.temperature = std::array{1.0, 0.3, 5.0}[samplings.size() % 3],
                             .top_p = top_p,
                             .top_k = top_k,
                             .min_p = min_p});
  for (const Row& row : rows_of(size, size))
    for (const Ids& allowed : {every(1, size), every(3, size)}) check_row(row, allowed, samplings, size);
}

TEST_CASE("ranked draw: and with a vocabulary of a real size", "[long]") {
  const std::vector<Sampling> samplings{{.top_p = 0.9}, {.top_p = 0.9999}, {.top_p = 0.7, .top_k = 500}};
  for (const Row& row : rows_of(151'936, 1)) check_row(row, every(1, 151'936), samplings, 1);
}

TEST_CASE("ranked draw: what is withheld is missing from the mass, wherever it stands in the order") {
  const std::vector<float> logits = drawn(500, 2, normal);
  std::vector<float> weights(logits.size());
  const float max = kernels::softmax_weights(logits.data(), 500, 1, weights.data()).max;
  for (std::size_t id = 0; id < 500; id += 3) weights[id] = 0;
  const Ids allowed = every(1, 500), order = sorted(allowed, logits);
  RankedDrawScratch scratch;
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const Sampling sampling{.top_p = rng.uniform(), .top_k = rng.between(1, 499)};
    const double uniform = rng.uniform();
    RankedDraw draw(logits, weights, allowed, max, 1, scratch);
    draw.keep_first(sampling.top_k);
    draw.keep_mass(sampling.top_p);
    const std::int32_t found = draw.draw(uniform), expected = draw_sorted(uniform, logits, weights, order, sampling);
    CHECK((found == expected || (found == -1 && weights[static_cast<std::size_t>(expected)] == 0)));
  }
}

TEST_CASE("ranked draw: one logit that is no number is an error with top_p too") {
  std::vector<float> logits = drawn(3000, 3, normal);
  logits[2999] = GENERATE(std::numeric_limits<float>::quiet_NaN(), kInfinity);
  Rng rng(1);
  SamplerScratch scratch;
  CHECK_THROWS_WITH(sample_token(logits, every(2, 3000), {.top_p = 0.9}, rng, scratch), Catch::Contains("not finite"));
  CHECK_THROWS_AS(sample_token(std::vector<float>(40, -kInfinity), every(1, 40), {.top_p = 0.9}, rng, scratch), Error);
}
