#include "agents/engine/engine.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <future>
#include <thread>

#include "agents/engine/key_value_cache.h"
#include "core/error.h"
#include "engine_calls.h"
#include "golden/checkpoint.h"
#include "golden/engine.h"

using namespace agon;
using namespace agon::agents;
using agon::kernels::KeyType;
using agon::test::engine_of;
using agon::test::golden_checkpoint;
using agon::test::GoldenCheckpoint;
using agon::test::LetterTokenizer;

namespace {

// A few requests of every kind: pictures, several samples, truncation, stops, greedy.
std::vector<GenerationRequest> mixed_requests(const GoldenCheckpoint& model) {
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 7; ++i) {
    GenerationRequest request{model.prompt(i % model.rows), i % 3 + 1, {}};
    request.sampling.seed = static_cast<std::uint64_t>(i / 2);
    request.sampling.max_tokens = 5 + 9 * i;
    request.sampling.temperature = i == 4 ? 0 : 0.5 + 0.3 * i;
    if (i % 2 == 1) request.sampling.top_k = 12;
    if (i % 3 == 1) request.sampling.top_p = 0.9;
    if (i == 6) request.sampling.stop = {"a", "5 "};
    requests.push_back(request);
  }
  return requests;
}

void check_equal(const Completion& a, const Completion& b) {
  CHECK(a.text == b.text);
  CHECK(a.token_ids == b.token_ids);
  CHECK(a.logprobs == b.logprobs);  // bit for bit
  CHECK(a.finish_reason == b.finish_reason);
  CHECK(a.matched_stop == b.matched_stop);
}

GenerationRequest plain_request(const GoldenCheckpoint& model, int max_tokens) {
  GenerationRequest request{model.prompt(0), 1, {}};
  request.sampling.max_tokens = max_tokens;
  return request;
}

}  // namespace

TEST_CASE("engine: scores equal transformers' log-probabilities") {
  const GoldenCheckpoint model = golden_checkpoint(GENERATE("one_picture", "uneven_windows", "wide_head"));
  agon::test::check_scores(*engine_of(model), model, GENERATE(1.0, 0.7));
}

TEST_CASE("engine: the greedy token is transformers' likeliest of the sampleable ones") {
  const GoldenCheckpoint model = golden_checkpoint(GENERATE("one_picture", "uneven_windows", "wide_head"));
  const auto engine = engine_of(model);
  for (int row = 0; row < model.rows; ++row) {
    GenerationRequest request{model.prompt(row), 1, {}};
    request.sampling.temperature = 0;
    request.sampling.max_tokens = 1;
    const Completion completion = engine->generate({request}).at(0);
    auto expected = agon::test::golden_logprobs(model, row, request.prompt.ids.size() - 1);
    for (std::size_t id = 40; id < 48; ++id)
      if (id != 44) expected[id] = -1e9;
    const auto best = std::max_element(expected.begin(), expected.end());
    CHECK(completion.token_ids == std::vector<std::int32_t>{static_cast<std::int32_t>(best - expected.begin())});
    CHECK(static_cast<double>(completion.logprobs.at(0)) == Approx(*best).margin(1e-4));
    CHECK(completion.prompt_tokens == static_cast<int>(request.prompt.ids.size()));
  }
}

TEST_CASE("engine: a request's bits do not depend on threads, on the batch or on what runs beside it") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");
  const KeyType keys = GENERATE(KeyType::f32, KeyType::bf16, KeyType::q8);
  std::vector<Completion> expected;
  {
    const auto engine = engine_of(model, {.max_batch = 1, .threads = 1, .keys = keys});
    for (const auto& request : mixed_requests(model))
      for (Completion& completion : engine->generate({request})) expected.push_back(std::move(completion));
  }
  const int threads = GENERATE(1, 2, 3), batch = GENERATE(2, 5, 512);
  const auto engine =
      engine_of(model, {.max_batch = batch, .threads = threads, .keys = keys, .idle_bytes = GENERATE(1, 1 << 20)});
  const auto whole = engine->generate(mixed_requests(model));
  REQUIRE(whole.size() == expected.size());
  for (std::size_t i = 0; i < whole.size(); ++i) check_equal(whole[i], expected[i]);

  std::vector<std::vector<Completion>> separate(mixed_requests(model).size());
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < separate.size(); ++i)
    callers.emplace_back([&, i] { separate[i] = engine->generate({mixed_requests(model)[i]}); });
  for (std::thread& caller : callers) caller.join();
  std::size_t at = 0;
  for (const auto& completions : separate)
    for (const Completion& completion : completions) check_equal(completion, expected[at++]);
}

TEST_CASE("engine: a start shared with a prompt read before, or beside it, changes no bit") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");
  // Continuations of one prompt, pictures first, that diverge at different places of a page.
  std::vector<GenerationRequest> requests;
  for (int extra = 0; extra < 40; extra += 3) {
    GenerationRequest request = plain_request(model, 6);
    for (int i = 0; i < extra; ++i) request.prompt.ids.push_back(i % 7 + 1);
    request.prompt.ids.insert(request.prompt.ids.end(), 3, extra % 5 + 1);
    requests.push_back(std::move(request));
  }
  std::vector<Completion> alone;
  const KeyType keys = GENERATE(KeyType::f32, KeyType::bf16, KeyType::q8);
  for (const GenerationRequest& request : requests)
    alone.push_back(engine_of(model, {.keys = keys})->generate({request}).at(0));
  const auto engine = engine_of(model, {.threads = GENERATE(1, 2), .keys = keys});
  if (GENERATE(false, true)) {  // one after another, the longest first
    for (std::size_t i = requests.size(); i-- > 0;) check_equal(engine->generate({requests[i]}).at(0), alone[i]);
  }
  const auto together = engine->generate(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) check_equal(together[i], alone[i]);
}

TEST_CASE("engine: the score of a completion is its log-probabilities, bit for bit") {
  const GoldenCheckpoint model = golden_checkpoint("wide_head");
  const auto engine = engine_of(model, {.keys = GENERATE(KeyType::f32, KeyType::bf16, KeyType::q8)});
  GenerationRequest request{model.prompt(0), 3, {}};
  request.sampling.temperature = 1.3;
  request.sampling.max_tokens = 180;
  for (const Completion& completion : engine->generate({request})) {
    const auto scores = engine->score({{request.prompt, completion.token_ids, 1.3}});
    CHECK(scores.at(0).logprobs == completion.logprobs);
  }
}

TEST_CASE("engine: keys and values of fewer bits give scores that are near, and are kept in less memory") {
  const GoldenCheckpoint model = golden_checkpoint("wide_head");
  const ScoringRequest request{model.prompt(0), std::vector<std::int32_t>(40, 7), 1.0};
  const std::vector<float> exact = engine_of(model)->score({request}).at(0).logprobs;
  for (const auto& [keys, margin] : {std::pair(KeyType::bf16, 0.05f), std::pair(KeyType::q8, 0.1f)}) {
    const std::vector<float> near = engine_of(model, {.keys = keys})->score({request}).at(0).logprobs;
    float difference = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) difference = std::max(difference, std::abs(near[i] - exact[i]));
    CHECK(difference > 0);
    CHECK(difference < margin);
  }
  const std::int64_t memory = 5 * PagePool::bytes_for(model.config.text, KeyType::bf16);
  GenerationRequest longer;
  longer.prompt.ids.assign(60, 7);
  longer.sampling.max_tokens = 4;
  CHECK_THROWS_WITH(engine_of(model, {.cache_bytes = memory})->generate({longer}), Catch::Contains("keys and values"));
  CHECK(engine_of(model, {.cache_bytes = memory, .keys = KeyType::bf16})->generate({longer}).size() == 1);
}

TEST_CASE("engine: samples differ by seed and number, and only by these") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto engine = engine_of(model);
  GenerationRequest request{model.prompt(1), 4, {}};
  request.sampling.max_tokens = 40;
  const auto first = engine->generate({request}), again = engine->generate({request});
  for (std::size_t i = 0; i < 4; ++i) check_equal(first[i], again[i]);
  CHECK(first[0].token_ids != first[1].token_ids);
  request.sampling.seed = 1;
  CHECK(engine->generate({request})[0].token_ids != first[0].token_ids);
  request.sampling.seed = 0;
  request.n = 1;
  check_equal(engine->generate({request})[0], first[0]);
}

TEST_CASE("engine: the samples of one request read its prompt once") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const GenerationRequest request{model.prompt(0), 5, {.max_tokens = 3}};
  const int prompt = static_cast<int>(request.prompt.ids.size());
  std::vector<int> cached;
  for (const Completion& sample : engine_of(model)->generate({request})) cached.push_back(sample.cached_tokens);
  CHECK(cached == std::vector<int>{0, prompt, prompt, prompt, prompt});
  // The prompt's pages are held once, so memory for them and one page per sample is enough for all five at a time.
  const std::int64_t pages = PagePool::pages_for(prompt) + 5;
  const auto engine = engine_of(model, {.cache_bytes = pages * PagePool::bytes_for(model.config.text, KeyType::f32)});
  const std::atomic<bool> never = false;
  int most_running = 0;
  GenerationWatch watch{
      never, [&](std::size_t, const Completion&) { most_running = std::max(most_running, engine->load().running); }};
  GenerationRequest longer = request;
  longer.sampling.max_tokens = 16;
  longer.sampling.changes.bias = {{44, -INFINITY}};  // no sample ends early
  engine->generate({longer}, &watch);
  CHECK(most_running == 5);
}

TEST_CASE("engine: truncation, penalties and bans change no log-probability that is told") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto engine = engine_of(model);
  GenerationRequest request{model.prompt(0), 1, {.max_tokens = 1, .alternatives = 6}};
  const Completion whole = engine->generate({request}).at(0);
  REQUIRE(whole.alternatives.at(0).size() == 6);
  for (const Sampling& sampling :
       {Sampling{.top_k = 1}, Sampling{.top_p = 0.05}, Sampling{.min_p = 0.9}, Sampling{.changes = {.bias = {{3, 50}}}},
        Sampling{.changes = {.banned = {{whole.alternatives[0][0].id}}}}}) {
    request.sampling = sampling;
    request.sampling.max_tokens = 1;
    request.sampling.alternatives = 6;
    const Completion cut = engine->generate({request}).at(0);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(cut.alternatives.at(0).at(i).id == whole.alternatives[0][i].id);
      CHECK(cut.alternatives[0][i].logprob == whole.alternatives[0][i].logprob);
    }
    const ScoringRequest scored{request.prompt, cut.token_ids, 1.0};
    CHECK(cut.logprobs == engine->score({scored}).at(0).logprobs);
  }
}

TEST_CASE("engine: a call that is past its deadline ends, and no other") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto engine = engine_of(model, {.max_batch = 1});
  const std::atomic<bool> never = false;
  GenerationRequest request = plain_request(model, 150);
  request.sampling.changes.bias = {{44, -INFINITY}};  // it does not end by itself
  const std::vector<Completion> expected = engine->generate({request});
  const auto soon = [](int milliseconds) {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  };
  GenerationWatch passed{.cancelled = never, .deadline = soon(0)};
  CHECK_THROWS_WITH(engine->generate({request}, &passed), Catch::Contains("deadline"));
  CHECK_THROWS_WITH(engine->score({{request.prompt, {1, 2}, 1.0}}, &passed), Catch::Contains("deadline"));
  GenerationWatch running{never, [](std::size_t, const Completion& so_far) {
                            if (so_far.token_ids.size() == 2) std::this_thread::sleep_for(std::chrono::seconds(1));
                          }};
  running.deadline = soon(900);  // passed at the second token
  auto other = std::async(std::launch::async, [&] { return engine->generate({request}); });
  CHECK_THROWS_WITH(engine->generate({request}, &running), Catch::Contains("deadline"));
  check_equal(other.get().at(0), expected[0]);
  GenerationWatch enough{.cancelled = never, .deadline = soon(600'000)};
  check_equal(engine->generate({request}, &enough).at(0), expected[0]);
}

TEST_CASE("engine: how a completion ends") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto engine = engine_of(model);
  LetterTokenizer tokenizer;
  GenerationRequest request = plain_request(model, 200);
  request.n = 60;
  bool by_token = false, by_length = false;
  request.sampling.max_tokens = 30;
  for (const Completion& completion : engine->generate({request})) {
    const auto& ids = completion.token_ids;
    REQUIRE(ids.size() == completion.logprobs.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      CHECK((ids[i] < 40 || (ids[i] == 44 && i + 1 == ids.size())));
      CHECK(completion.logprobs[i] <= 0);
    }
    if (ids.back() == 44) {
      by_token = true;
      CHECK(completion.finish_reason == FinishReason::stop);
      CHECK(completion.matched_stop.empty());
    } else {
      by_length = true;
      CHECK(completion.finish_reason == FinishReason::length);
      CHECK(ids.size() == 30);
    }
  }
  CHECK((by_token && by_length));

  request.sampling.stop = {"a", "e", "0", "5"};
  int stopped = 0;
  for (const Completion& completion : engine->generate({request})) {
    if (completion.matched_stop.empty()) continue;
    ++stopped;
    CHECK(completion.finish_reason == FinishReason::stop);
    CHECK(completion.text.find(completion.matched_stop) == completion.text.size() - 1);
    const std::string last = tokenizer.token_bytes(completion.token_ids.back());
    CHECK(last.find(completion.matched_stop) != std::string::npos);  // the token that completed it is the last one
  }
  CHECK(stopped > 10);
}

TEST_CASE("engine: a full context ends a completion by length, a prompt past it is an error with both numbers") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto engine = engine_of(model);
  REQUIRE(engine->max_context() == 256);
  GenerationRequest request;
  request.sampling.max_tokens = 100;
  request.sampling.temperature = 0.01;
  request.prompt.ids.assign(250, 7);
  const Completion cut = engine->generate({request}).at(0);
  CHECK(cut.token_ids.size() <= 6);
  if (cut.token_ids.back() != 44) CHECK(cut.finish_reason == FinishReason::length);
  request.prompt.ids.assign(256, 7);
  const Completion none = engine->generate({request}).at(0);
  CHECK(none.token_ids.empty());
  CHECK(none.finish_reason == FinishReason::length);
  CHECK(none.prompt_tokens == 256);
  request.prompt.ids.assign(257, 7);
  CHECK_THROWS_WITH(engine->generate({plain_request(model, 3), request}),
                    Catch::Contains("257") && Catch::Contains("256"));
  CHECK_THROWS_AS(engine->score({{model.prompt(0), std::vector<std::int32_t>(250, 1), 1.0}}), Error);
  CHECK(engine->score({{model.prompt(0), {}, 1.0}}).at(0).logprobs.empty());
}

TEST_CASE("engine: bad requests are errors, and the engine works on") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto engine = engine_of(model);
  const auto refuses = [&](auto change) {
    GenerationRequest request = plain_request(model, 4);
    change(request);
    CHECK_THROWS_AS(engine->generate({request}), Error);
  };
  refuses([](auto& request) { request.n = 0; });
  refuses([](auto& request) { request.n = 1 << 30; });
  refuses([](auto& request) { request.sampling.temperature = -1; });
  refuses([](auto& request) { request.sampling.temperature = NAN; });
  refuses([](auto& request) { request.sampling.top_p = 0; });
  refuses([](auto& request) { request.sampling.top_p = 1.5; });
  refuses([](auto& request) { request.sampling.top_k = -1; });
  refuses([](auto& request) { request.sampling.max_tokens = 0; });
  refuses([](auto& request) { request.sampling.stop = {""}; });
  refuses([](auto& request) { request.prompt.ids.clear(); });
  refuses([](auto& request) { request.prompt.ids.back() = 48; });
  refuses([](auto& request) { request.prompt.ids.back() = -1; });
  refuses([](auto& request) { request.prompt.images.clear(); });
  refuses([](auto& request) { request.prompt.images.push_back(request.prompt.images[0]); });
  refuses([](auto& request) {
    auto wrong = std::make_shared<PatchedImage>(*request.prompt.images[0]);
    wrong->patches.pop_back();
    request.prompt.images[0] = wrong;
  });
  CHECK_THROWS_AS(engine->score({{model.prompt(0), {48}, 1.0}}), Error);
  CHECK_FALSE(engine->generate({plain_request(model, 4)}).at(0).token_ids.empty());
  CHECK(engine->generate({}).empty());
}

TEST_CASE("engine: little memory for keys and values slows, it does not change or block anything") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");
  const auto roomy = engine_of(model), tight = engine_of(model, {.cache_bytes = 16 << 10 << 3});
  std::vector<GenerationRequest> requests = mixed_requests(model);
  const auto expected = roomy->generate(requests), found = tight->generate(requests);
  for (std::size_t i = 0; i < expected.size(); ++i) check_equal(found[i], expected[i]);

  const auto tiny = engine_of(model, {.cache_bytes = 1});
  CHECK_THROWS_WITH(tiny->generate({plain_request(model, 5)}), Catch::Contains("keys and values"));
}

TEST_CASE("engine: what goes wrong on its thread reaches every caller, and the next call runs") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  EngineWeights weights = load_engine_weights(model.folder, model.config, WeightKind::f32);
  const std::int32_t poisoned = 9;  // its embedding makes every later state NaN
  agon::test::poison_embedding(weights, poisoned);
  Engine engine(std::move(weights), model.config, std::make_shared<LetterTokenizer>(), {});
  GenerationRequest bad;
  bad.prompt.ids = {1, poisoned, 2};
  CHECK_THROWS_WITH(engine.generate({bad}), Catch::Contains("not finite"));
  GenerationRequest good;
  good.prompt.ids = {1, 2};
  good.sampling.max_tokens = 1;
  CHECK(engine.generate({good}).at(0).token_ids.size() == 1);
}

TEST_CASE("engine: a watch sees every token, and ends its call alone") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto engine = engine_of(model);
  GenerationRequest request = plain_request(model, 20);
  request.n = 3;
  request.sampling.temperature = 1;
  const std::vector<Completion> expected = engine->generate({request});
  std::atomic<bool> cancelled = false;
  std::vector<std::vector<std::int32_t>> seen(3);
  GenerationWatch watch{cancelled, [&](std::size_t place, const Completion& so_far) {
                          seen.at(place).push_back(so_far.token_ids.back());
                        }};
  const std::vector<Completion> watched = engine->generate({request}, &watch);
  for (std::size_t i = 0; i < 3; ++i) {
    check_equal(watched[i], expected[i]);
    CHECK(seen[i] == expected[i].token_ids);
    CHECK(watched[i].cached_tokens == watched[i].prompt_tokens);
  }
  GenerationWatch ends{cancelled, [&](std::size_t, const Completion& so_far) {
                         if (so_far.token_ids.size() == 2) cancelled = true;
                       }};
  auto other = std::async(std::launch::async, [&] { return engine->generate({request}); });
  CHECK_THROWS_WITH(engine->generate({request}, &ends), Catch::Contains("cancelled"));
  CHECK_THROWS_WITH(engine->generate({request}, &ends), Catch::Contains("cancelled"));
  check_equal(other.get().at(0), expected[0]);
  const std::atomic<bool> never = false;
  GenerationWatch throws{never, [](std::size_t, const Completion&) { throw std::runtime_error("the watch broke"); }};
  CHECK_THROWS_WITH(engine->generate({request}, &throws), Catch::Contains("the watch broke"));
  check_equal(engine->generate({request}).at(0), expected[0]);
}

TEST_CASE("engine: a prompt that is read over several steps gives the same bits, and others go on meanwhile") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");
  const auto whole = engine_of(model), pieces = engine_of(model, {.most_stall = 0});  // 32 tokens per step
  std::vector<GenerationRequest> requests = mixed_requests(model);
  GenerationRequest& first = requests.emplace_back();
  for (int i = 0; i < 200; ++i) first.prompt.ids.push_back(1 + i * i % 37);
  first.sampling.max_tokens = 20;
  GenerationRequest& follower = requests.emplace_back(first);  // shares its start
  follower.prompt.ids.back() = 5;
  const std::vector<Completion> expected = whole->generate(requests);

  GenerationRequest lively;
  lively.prompt.ids = {1, 2, 3};
  lively.sampling.max_tokens = 400;
  lively.sampling.temperature = 3;
  lively.n = 8;  // some of them write many tokens
  std::atomic<int> tokens = 0, tokens_before = 0, tokens_at_first = 0;
  std::future<std::vector<Completion>> others;
  const std::atomic<bool> never = false;
  GenerationWatch read_watch{never, [&](std::size_t number, const Completion& completion) {
                               if (number + 1 == expected.size() && completion.token_ids.size() == 1)
                                 tokens_at_first = tokens.load();
                             }};
  GenerationWatch lively_watch{never, [&](std::size_t, const Completion&) {
                                 if (++tokens != 9) return;
                                 tokens_before = tokens.load();
                                 others = std::async(std::launch::async,
                                                     [&] { return pieces->generate(requests, &read_watch); });
                                 std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it has arrived
                               }};
  pieces->generate({lively}, &lively_watch);
  const std::vector<Completion> found = others.get();
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) check_equal(found[i], expected[i]);
  CHECK(tokens_at_first - tokens_before >= 200 / 32);
}

TEST_CASE("engine: closing it while calls wait ends them with an error") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  auto owner = engine_of(model, {.max_batch = 1});
  Engine* const engine = owner.get();
  std::atomic<int> ended{0}, entered{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      GenerationRequest request = plain_request(model, 200);
      request.n = 3000;
      ++entered;
      try {
        engine->generate({request});
      } catch (const Error&) {
      }
      ++ended;
    });
  while (entered < 3) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  owner.reset();
  for (std::thread& caller : callers) caller.join();
  CHECK(ended == 3);
}

TEST_CASE("engine: new weights answer from then on, with nothing left of the old ones") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const auto engine = engine_of(model);
  const std::vector<GenerationRequest> requests{plain_request(model, 12)};
  const Completion before = engine->generate(requests).at(0);
  EngineWeights doubled = load_engine_weights(model.folder, model.config, WeightKind::f32);
  for (float& value : doubled.norm) value *= 2;
  engine->set_weights(std::move(doubled));
  CHECK(engine->generate(requests).at(0).logprobs != before.logprobs);
  engine->set_weights(load_engine_weights(model.folder, model.config, WeightKind::f32));
  check_equal(engine->generate(requests).at(0), before);
}
