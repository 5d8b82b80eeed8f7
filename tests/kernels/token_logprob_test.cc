#include "kernels/token_logprob/token_logprob.h"

#include <limits>
#include <numeric>

#include "kernel_testing.h"

using namespace agon::kernels;
using namespace agon::test;

namespace {

struct Sizes {
  std::int64_t tokens, width, vocabulary;
};

std::vector<double> widened(const std::vector<float>& values) { return {values.begin(), values.end()}; }
std::vector<float> narrowed(const std::vector<double>& values) { return {values.begin(), values.end()}; }

// The inputs, and the gradients that a loss passes to the results.
template <typename Real>
struct Problem {
  Sizes sizes;
  Real inverse_temperature;
  std::vector<Real> hidden, head, d_logprob, d_entropy;
  std::vector<std::int64_t> ids;

  TokenLogprobInput<Real> input() const {
    return {hidden.data(), head.data(), ids.data(), sizes.tokens, sizes.width, sizes.vocabulary, inverse_temperature};
  }
};

// Logits of a few units, so that some tokens are likely and most are not; ids at both ends of the vocabulary too.
Problem<float> random_problem(const Sizes& sizes, float inverse_temperature = 1) {
  const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const auto [tokens, width, vocabulary] = sizes;
  Problem<float> problem{sizes,
                         inverse_temperature,
                         random_floats(count(tokens * width), 1),
                         random_floats(count(vocabulary * width), 2),
                         random_floats(count(tokens), 3),
                         random_floats(count(tokens), 4),
                         std::vector<std::int64_t>(count(tokens))};
  for (float& value : problem.head) value *= 8 / std::sqrt(static_cast<float>(width));
  for (std::size_t t = 0; t < problem.ids.size(); ++t)
    problem.ids[t] = t % 5 == 0 ? vocabulary - 1 : static_cast<std::int64_t>(t * 7919) % vocabulary;
  return problem;
}

Problem<double> in_double(const Problem<float>& problem) {
  return {problem.sizes,
          problem.inverse_temperature,
          widened(problem.hidden),
          widened(problem.head),
          widened(problem.d_logprob),
          widened(problem.d_entropy),
          problem.ids};
}

template <typename Real>
struct Results {
  std::vector<Real> logprob, entropy, log_sum, d_hidden, d_head;

  explicit Results(const Problem<Real>& problem)
      : logprob(problem.ids.size()),
        entropy(problem.ids.size()),
        log_sum(problem.ids.size()),
        d_hidden(problem.hidden.size(), 7),
        d_head(problem.head.size(), 7) {}
  TokenLogprobOutput<Real> output() { return {logprob.data(), entropy.data(), log_sum.data()}; }
  TokenLogprobGradient<Real> gradient(const Problem<Real>& problem) {
    return {log_sum.data(),           entropy.data(),  problem.d_logprob.data(),
            problem.d_entropy.data(), d_hidden.data(), d_head.data()};
  }
};

Results<double> reference_results(const Problem<double>& problem) {
  Results<double> results(problem);
  reference::token_logprob(problem.input(), results.output());
  reference::token_logprob_backward(problem.input(), results.gradient(problem));
  return results;
}

Results<float> results_of(const Problem<float>& problem, const ParallelFor& parallel = {}) {
  Results<float> results(problem);
  token_logprob(problem.input(), results.output(), parallel);
  token_logprob_backward(problem.input(), results.gradient(problem), parallel);
  return results;
}

// The function whose gradients are checked: the sum over tokens of d_logprob * logprob + d_entropy * entropy.
double weighted_sum(const Problem<double>& problem) {
  Results<double> results(problem);
  reference::token_logprob(problem.input(), results.output());
  return std::inner_product(problem.d_logprob.begin(), problem.d_logprob.end(), results.logprob.begin(), 0.0) +
         std::inner_product(problem.d_entropy.begin(), problem.d_entropy.end(), results.entropy.begin(), 0.0);
}

}  // namespace

TEST_CASE("token_logprob's reference: a uniform distribution, and one of two tokens") {
  Problem<double> problem{{1, 1, 4}, 1, {0}, {1, 2, 3, 4}, {1}, {0}, {2}};
  CHECK(reference_results(problem).logprob[0] == Approx(-std::log(4)));
  CHECK(reference_results(problem).entropy[0] == Approx(std::log(4)));
  problem = {{1, 1, 2}, 0.5, {2}, {0, std::log(3)}, {1}, {0}, {1}};  // p = 1/4, 3/4
  const Results<double> results = reference_results(problem);
  CHECK(results.logprob[0] == Approx(std::log(0.75)));
  CHECK(results.entropy[0] == Approx(-0.25 * std::log(0.25) - 0.75 * std::log(0.75)));
  CHECK(results.d_head[1] == Approx(0.5 * 2 * 0.25));  // d logit = 1 - p, times hidden over the temperature
}

TEST_CASE("token_logprob's reference: gradients equal finite differences in double") {
  Problem<double> problem = in_double(random_problem({5, 4, 9}, GENERATE(1.0f, 0.6f)));
  const Results<double> results = reference_results(problem);
  const auto check = [&](std::vector<double>& values, const std::vector<double>& gradient) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = values[i], step = 1e-6;
      values[i] = value + step;
      const double above = weighted_sum(problem);
      values[i] = value - step;
      CHECK(gradient[i] == Approx((above - weighted_sum(problem)) / (2 * step)).epsilon(1e-6).margin(1e-8));
      values[i] = value;
    }
  };
  check(problem.hidden, results.d_hidden);
  check(problem.head, results.d_head);
}

TEST_CASE("token_logprob equals its reference for odd sizes and temperatures") {
  const Sizes sizes = GENERATE(Sizes{1, 1, 1}, Sizes{1, 3, 2}, Sizes{7, 5, 33}, Sizes{33, 31, 257}, Sizes{32, 32, 512},
                               Sizes{70, 130, 1031}, Sizes{1100, 9, 300});
  const float inverse_temperature = GENERATE(1.0f, 0.7f, 2.0f);
  const Problem<float> problem = random_problem(sizes, inverse_temperature);
  const Results<double> expected = reference_results(in_double(problem));
  const Results<float> actual = results_of(problem);
  check_close(actual.logprob, narrowed(expected.logprob), 5e-6, 1e-5);
  check_close(actual.entropy, narrowed(expected.entropy), 5e-6, 1e-5);
  check_close(actual.log_sum, narrowed(expected.log_sum), 5e-6, 1e-5);
  check_close(actual.d_hidden, narrowed(expected.d_hidden), 2e-5, 1e-5);
  check_close(actual.d_head, narrowed(expected.d_head), 2e-5, 1e-5);
}

TEST_CASE("token_logprob: the same bits however the work is cut") {
  const Problem<float> problem = random_problem({150, 40, 1500});
  const Results<float> whole = results_of(problem), cut = results_of(problem, pieces_of(GENERATE(1, 3, 1000)));
  CHECK(whole.logprob == cut.logprob);
  CHECK(whole.entropy == cut.entropy);
  CHECK(whole.d_hidden == cut.d_hidden);
  CHECK(whole.d_head == cut.d_head);
}

TEST_CASE("token_logprob_backward: without a gradient of the entropy, and of one input alone") {
  Problem<float> problem = random_problem({40, 20, 600});
  std::fill(problem.d_entropy.begin(), problem.d_entropy.end(), 0.0f);
  Results<float> expected = results_of(problem), actual(problem);
  const std::vector<float> untouched = actual.d_head;
  token_logprob(problem.input(), actual.output());
  TokenLogprobGradient<float> gradient = actual.gradient(problem);
  gradient.d_entropy = nullptr;
  SECTION("hidden") {
    gradient.d_head = nullptr;
    token_logprob_backward(problem.input(), gradient);
    CHECK(actual.d_hidden == expected.d_hidden);
    CHECK(actual.d_head == untouched);
  }
  SECTION("head") {
    gradient.d_hidden = nullptr;
    token_logprob_backward(problem.input(), gradient);
    CHECK(actual.d_head == expected.d_head);
  }
}

TEST_CASE("token_logprob of no tokens: the head's gradient is 0") {
  const Results<float> results = results_of(random_problem({0, 3, 5}));
  CHECK(results.d_head == std::vector<float>(15, 0.0f));
}

TEST_CASE("token_logprob: a certain token has log-probability and entropy 0, what is not finite shows") {
  Problem<float> problem = random_problem({3, 2, 40});
  problem.hidden = {1, 0, 1, 0, 1, 0};
  problem.head.assign(problem.head.size(), 0.0f);
  problem.head[2 * 11] = 300;
  problem.ids = {11, 12, 11};
  SECTION("certain") {
    const Results<float> results = results_of(problem);
    CHECK(results.logprob[0] == 0);
    CHECK(results.logprob[1] == -300);
    CHECK(results.entropy[0] == 0);
    CHECK(results.d_hidden[0] == Approx(0).margin(1e-6));
  }
  SECTION("not a number") {
    problem.hidden[2] = std::numeric_limits<float>::quiet_NaN();
    const Results<float> results = results_of(problem);
    CHECK(results.logprob[0] == 0);
    CHECK(std::isnan(results.logprob[1]));
  }
  SECTION("overflow") {
    problem.hidden[2] = 1e37f;
    CHECK(std::isnan(results_of(problem).logprob[1]));
  }
}
