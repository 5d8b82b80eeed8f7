// The engine with little memory for keys and values: every call ends, with the same bits as with plenty of memory.
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "agents/engine/engine.h"
#include "agents/engine/key_value_cache.h"
#include "core/error.h"
#include "core/rng.h"
#include "engine_calls.h"
#include "golden/checkpoint.h"

using namespace agon;
using namespace agon::agents;
using agon::test::check_equal;
using agon::test::golden_checkpoint;
using agon::test::GoldenCheckpoint;
using agon::test::LetterTokenizer;
using agon::test::request_of;

namespace {

using Ids = std::vector<std::int32_t>;

std::unique_ptr<Engine> engine_of_pages(const GoldenCheckpoint& model, std::int64_t pages, int threads = 1) {
  const std::int64_t page = PagePool(model.config.text, 1 << 20).page_bytes();
  return std::make_unique<Engine>(load_engine_weights(model.folder, model.config, WeightKind::f32), model.config,
                                  std::make_shared<LetterTokenizer>(),
                                  EngineOptions{.threads = threads, .cache_bytes = pages * page});
}

GenerationRequest prompt_request(EncodedPrompt prompt, int max_tokens, int n = 1) {
  GenerationRequest request{std::move(prompt), n, {}};
  request.sampling.max_tokens = max_tokens;
  return request;
}

// Fails, and closes the engine, if it takes more than a minute.
template <typename Call>
auto in_time(std::unique_ptr<Engine>& engine, const Call& call) {
  auto result = std::async(std::launch::async, [&, raw = engine.get()] { return call(*raw); });
  if (result.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
    engine.reset();
    FAIL("a call does not end");
  }
  return result.get();
}

std::vector<Completion> generate(std::unique_ptr<Engine>& engine, const std::vector<GenerationRequest>& requests) {
  return in_time(engine, [&](Engine& one) { return one.generate(requests); });
}

Ids run(std::vector<std::pair<int, int>> runs) {
  Ids all;
  for (const auto& [count, id] : runs) all.insert(all.end(), static_cast<std::size_t>(count), id);
  return all;
}

}  // namespace

TEST_CASE("engine: an idle prompt gives its pages up to one that only shares its start") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const int tokens = GENERATE(1, 16, 96);  // at 96 all 16 pages are needed
  auto roomy = engine_of_pages(model, 1000), tight = engine_of_pages(model, 16);
  for (const Ids& ids : {run({{160, 7}}), run({{1, 7}, {159, 8}}), run({{33, 7}, {127, 8}}), run({{160, 8}}),
                         run({{159, 7}, {1, 8}}), run({{160, 7}})}) {
    const std::vector<GenerationRequest> requests{prompt_request({ids, {}}, tokens)};
    check_equal(generate(tight, requests), generate(roomy, requests));
  }
}

TEST_CASE("engine: several idle prompts that share starts with one another give way too") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  auto roomy = engine_of_pages(model, 1000), tight = engine_of_pages(model, 16);
  for (int round = 0; round < 2; ++round)
    for (const Ids& ids : {run({{48, 7}}), run({{48, 7}, {30, 8}}), run({{48, 7}, {30, 8}, {20, 9}}),
                           run({{16, 7}, {140, 6}}), run({{2, 7}, {200, 5}}), run({{48, 7}, {150, 8}})}) {
      const std::vector<GenerationRequest> requests{prompt_request({ids, {}}, 20, 1 + round)};
      check_equal(generate(tight, requests), generate(roomy, requests));
    }
}

TEST_CASE("engine: an idle start with a picture gives way, and the picture is right where it is read again") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");
  std::int64_t pages = 0;
  std::vector<std::vector<GenerationRequest>> all;
  for (const int extra : {40, 70, 3, 70, 40})
    for (int row = 0; row < model.rows; ++row) {
      EncodedPrompt prompt = model.prompt(row);
      prompt.ids.insert(prompt.ids.end(), static_cast<std::size_t>(extra), extra % 7 + row + 1);
      pages = std::max(pages, PagePool::pages_for(std::ssize(prompt.ids)) + PagePool::pages_for(6));
      all.push_back({prompt_request(std::move(prompt), 6)});
    }
  auto roomy = engine_of_pages(model, 1000), tight = engine_of_pages(model, pages);
  for (const auto& requests : all) check_equal(generate(tight, requests), generate(roomy, requests));
}

TEST_CASE("engine: many callers with samples, scores and shared starts all end where memory holds two of them") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  auto roomy = engine_of_pages(model, 4000), tight = engine_of_pages(model, 16, GENERATE(1, 2));
  Rng rng(4);
  std::vector<std::vector<GenerationRequest>> all;
  for (int caller = 0; caller < 12; ++caller) {
    std::vector<GenerationRequest> requests;
    for (int i = 0; i < 3; ++i) {
      EncodedPrompt prompt{run({{rng.between(1, 90), 7}, {rng.between(1, 60), rng.between(6, 9)}}), {}};
      requests.push_back(prompt_request(std::move(prompt), rng.between(1, 90), rng.between(1, 4)));
      requests.back().sampling.seed = static_cast<std::uint64_t>(caller);
    }
    all.push_back(std::move(requests));
  }
  std::vector<std::vector<Completion>> found(all.size());
  in_time(tight, [&](Engine& engine) {
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < all.size(); ++i)
      callers.emplace_back([&, i] {
        found[i] = engine.generate(all[i]);
        engine.score({{all[i][0].prompt, Ids(30, 3), 1.0}});
      });
    return 0;
  });
  for (std::size_t i = 0; i < all.size(); ++i) check_equal(found[i], generate(roomy, all[i]));
}

TEST_CASE("engine: what can never fit is an error to its caller that names the sizes, and others run") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  auto tight = engine_of_pages(model, 4);
  CHECK_THROWS_WITH(
      generate(tight, {prompt_request({run({{65, 7}}), {}}, 1)}),
      Catch::Contains("65 tokens") && Catch::Contains("holds 64") && Catch::Contains("Shorten the prompt"));
  CHECK_THROWS_WITH(generate(tight, {prompt_request({run({{48, 7}}), {}}, 17)}),
                    Catch::Contains("48 prompt tokens") && Catch::Contains("17 more") && Catch::Contains("holds 64"));
  CHECK_THROWS_AS(in_time(tight, [](Engine& one) { return one.score({{{{1, 2, 3}, {}}, Ids(60, 3), 1.0}}); }), Error);
  CHECK(generate(tight, {prompt_request({run({{48, 7}}), {}}, 16)}).size() == 1);
}

TEST_CASE("engine: many long prompts do not keep one that runs from its next tokens") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  Engine engine(load_engine_weights(model.folder, model.config, WeightKind::f32), model.config,
                std::make_shared<LetterTokenizer>(), {.threads = 1});
  const int tokens = engine.max_context() / 2;
  std::vector<GenerationRequest> requests{request_of({1, 2, 3}, tokens)};
  constexpr int kPrompts = 40;
  for (int i = 0; i < kPrompts; ++i) {
    Ids ids(static_cast<std::size_t>(tokens), 7);
    ids[0] = i % 29, ids[1] = i / 29;
    requests.push_back(request_of(ids, 1));
  }
  const std::atomic<bool> never = false;
  std::size_t written = 0, written_then = 0;  // tokens of the first request; the same when the last prompt was read
  GenerationWatch watch{never, [&](std::size_t place, const Completion& so_far) {
                          if (place == 0) written = so_far.token_ids.size();
                          if (place == kPrompts) written_then = written;
                        }};
  const auto completions = engine.generate(requests, &watch);
  CHECK(completions.size() == kPrompts + 1);
  CHECK(written_then >= std::min<std::size_t>(written, static_cast<std::size_t>(kPrompts * tokens / 1024) / 2));
  CHECK(written_then > 1);
}

TEST_CASE("engine: scoring ends when it is cancelled") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  Engine engine(load_engine_weights(model.folder, model.config, WeightKind::f32), model.config,
                std::make_shared<LetterTokenizer>(), {});
  const std::atomic<bool> cancelled = true;
  GenerationWatch watch{cancelled};
  CHECK_THROWS_WITH(engine.score({{{{1, 2, 3}, {}}, {4, 5}, 1.0}}, &watch), Catch::Contains("cancelled"));
  CHECK(engine.score({{{{1, 2, 3}, {}}, {4, 5}, 1.0}}).size() == 1);
}
