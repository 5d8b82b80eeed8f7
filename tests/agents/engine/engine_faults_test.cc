// Faults in the engine: every call ends with its result or its own error, and the engine keeps working.
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <future>

#include "agents/engine/engine.h"
#include "agents/engine/key_value_cache.h"
#include "core/error.h"
#include "engine_calls.h"
#include "golden/checkpoint.h"

using namespace agon;
using namespace agon::agents;
using agon::test::check_equal;
using agon::test::golden_checkpoint;
using agon::test::GoldenCheckpoint;
using agon::test::Ids;
using agon::test::in_time;
using agon::test::LetterTokenizer;
using agon::test::request_of;

namespace {

constexpr std::int32_t kPoisoned = 46;  // its embedding makes every later state NaN; it is never sampled

EngineWeights poisoned_weights(const GoldenCheckpoint& model) {
  EngineWeights weights = load_engine_weights(model.folder, model.config, WeightKind::f32);
  agon::test::poison_embedding(weights, kPoisoned);
  return weights;
}

GenerationRequest long_request() {
  GenerationRequest request = request_of({1, 2, 3}, 200, 40);
  request.sampling.temperature = 3;
  return request;
}

// Sets `over` when a scope ends, also by an exception.
struct Ends {
  std::atomic<bool>& over;
  ~Ends() { over = true; }
};

// Calls `disturb` repeatedly during a long call, and checks that the call gets the same result as alone.
template <typename Disturb>
void check_undisturbed(Engine& engine, const Disturb& disturb) {
  const auto expected = engine.generate({long_request()});
  std::atomic<bool> over{false};
  auto found = std::async(std::launch::async, [&] {
    const Ends ends{over};
    return engine.generate({long_request()});
  });
  while (!over) disturb();
  check_equal(in_time(std::move(found)), expected);
}

// A tokenizer that throws on demand.
class ThrowingTokenizer : public LetterTokenizer {
 public:
  enum class What { nothing, error, other };
  std::string token_bytes(std::int32_t id) const override {
    if (what_ == What::error && id == 29) throw Error("tokenizer: broken");
    if (what_ == What::other && id == 29) throw 42;
    return LetterTokenizer::token_bytes(id);
  }
  std::atomic<What> what_{What::nothing};
};

}  // namespace

TEST_CASE("engine: a NaN in one request ends that call alone") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  Engine engine(poisoned_weights(model), model.config, std::make_shared<LetterTokenizer>(),
                {.threads = GENERATE(1, 2)});
  check_undisturbed(engine, [&] {
    CHECK_THROWS_WITH(engine.generate({request_of({1, 2, 3, kPoisoned, 2}, 5)}), Catch::Contains("not finite"));
    CHECK_THROWS_WITH(engine.score({{{{1, 2, 3}, {}}, {4, kPoisoned, 5}, 1.0}}), Catch::Contains("not finite"));
    CHECK_THROWS_WITH(engine.states({{{{1, 2, 3}, {}}, {4, kPoisoned, 5}, 1.0}}), Catch::Contains("not finite"));
  });
  // Pages that held a NaN do not spoil later calls, nor does the start of a prompt with a NaN.
  CHECK(engine.generate({request_of({1, 2, 3, 4}, 30)}).size() == 1);
  CHECK_THROWS_WITH(engine.generate({request_of({5, 6, 7, kPoisoned, 2}, 5)}), Catch::Contains("not finite"));
  CHECK(engine.generate({request_of({5, 6, 7, 8}, 30)}).size() == 1);
}

TEST_CASE("engine: a prompt that waits for the start of one with a NaN is read all the same") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto make = [&] {
    return std::make_unique<Engine>(poisoned_weights(model), model.config, std::make_shared<LetterTokenizer>(),
                                    EngineOptions{.threads = 2, .idle_bytes = 1});
  };
  const auto engine = make(), other = make();
  std::atomic<bool> over{false};
  std::vector<std::future<void>> disturbers;
  for (int i = 0; i < 2; ++i)
    disturbers.push_back(std::async(std::launch::async, [&] {
      while (!over) {
        Ids ids(40, 7);
        ids.push_back(kPoisoned);
        try {
          engine->generate({request_of(std::move(ids), 5)});
        } catch (const Error&) {
        }
      }
    }));
  const Ends ends{over};  // declared last: it ends the disturbers before their futures wait
  for (int i = 0; i < 200; ++i) {
    Ids ids(41, 7);
    ids.insert(ids.end(), {i % 20, i / 20});
    const std::vector<GenerationRequest> requests{request_of(ids, 2)};
    check_equal(in_time(std::async(std::launch::async, [&] { return engine->generate(requests); })),
                other->generate(requests));
  }
}

TEST_CASE("engine: what is computed in pages that held a NaN is right") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const std::int64_t page = PagePool(model.config.text, 1 << 20).page_bytes();
  Engine engine(poisoned_weights(model), model.config, std::make_shared<LetterTokenizer>(), {.cache_bytes = 8 * page});
  const std::vector<GenerationRequest> requests{request_of(Ids(50, 3), 40)};
  const auto expected = engine.generate(requests);
  Ids ids(100, 4);
  ids[0] = kPoisoned;
  CHECK_THROWS_WITH(engine.generate({request_of(ids, 5)}), Catch::Contains("not finite"));
  check_equal(engine.generate(requests), expected);
}

TEST_CASE("engine: a request that fails ends its call, with all other requests of that call") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  Engine engine(poisoned_weights(model), model.config, std::make_shared<LetterTokenizer>(), {.max_batch = 3});
  CHECK_THROWS_WITH(engine.generate({long_request(), request_of({kPoisoned, 2}, 5), long_request()}),
                    Catch::Contains("not finite"));
  CHECK(engine.generate({request_of({1, 2}, 5)}).size() == 1);
}

TEST_CASE("engine: what a tokenizer throws ends the call that needed it") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto tokenizer = std::make_shared<ThrowingTokenizer>();
  Engine engine(load_engine_weights(model.folder, model.config, WeightKind::f32), model.config, tokenizer, {});
  GenerationRequest request = long_request();
  const auto expected = engine.generate({request});
  tokenizer->what_ = ThrowingTokenizer::What::error;
  CHECK_THROWS_WITH(engine.generate({request}), "tokenizer: broken");
  tokenizer->what_ = ThrowingTokenizer::What::other;
  CHECK_THROWS_AS(engine.generate({request}), Error);
  tokenizer->what_ = ThrowingTokenizer::What::nothing;
  check_equal(engine.generate({request}), expected);
}

TEST_CASE("engine: new weights that come while a request is under way are refused, and it goes on") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  Engine engine(load_engine_weights(model.folder, model.config, WeightKind::f32), model.config,
                std::make_shared<LetterTokenizer>(), {});
  int refused = 0;
  const auto disturb = [&] {
    try {
      engine.set_weights(
          load_engine_weights(model.folder, model.config, WeightKind::f32));  // equal to the current ones
    } catch (const Error& error) {
      ++refused;
      CHECK_THAT(error.what(), Catch::Contains("under way"));
    }
  };
  for (int round = 0; refused == 0 && round < 1000; ++round) check_undisturbed(engine, disturb);  // until they meet
  CHECK(refused > 0);
}
