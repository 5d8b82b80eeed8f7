// Failing allocations anywhere in the engine. Not run under the thread sanitizer, whose operator new cannot be
// replaced.
#include <catch2/catch.hpp>
#include <future>

#include "agents/engine/engine.h"
#include "agents/engine/key_value_cache.h"
#include "core/error.h"
#include "engine_calls.h"
#include "failing_memory.h"
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

TEST_CASE("engine: wherever memory runs out, every call ends and the next ones get what they should") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  const std::int64_t page = PagePool(model.config.text, 1 << 20).page_bytes();
  const EngineOptions options{.threads = GENERATE(1, 2), .cache_bytes = 30 * page, .idle_bytes = 8 * page};
  Engine engine(load_engine_weights(model.folder, model.config, WeightKind::f32), model.config,
                std::make_shared<LetterTokenizer>(), options);
  GenerationRequest picture{model.prompt(0), 2, {}};
  picture.sampling.max_tokens = 4;
  std::vector<GenerationRequest> requests{picture, request_of(Ids(40, 7), 3, 2), request_of({7, 7, 8, 9}, 20)};
  requests[2].sampling.top_p = 0.8;
  requests[2].sampling.alternatives = 2;
  const auto expected = engine.generate(requests);
  const auto call = [&](std::size_t which) -> int {  // 1 if the call failed
    agon::test::spare_this_thread();
    try {
      if (which < requests.size())
        engine.generate({requests[which]});
      else
        engine.score({{requests[1].prompt, Ids(20, 4), 1.0}});
      return 0;
    } catch (const Error&) {
      return 1;
    }
  };
  int failed = 0;
  bool all_done = false;
  for (long number = 0; !all_done; number += 1 + number / 40) {
    INFO("allocation " << number);
    {
      const agon::test::FailingMemory failing(number);
      std::vector<std::future<int>> calls;
      for (std::size_t i = 0; i < 4; ++i) calls.push_back(std::async(std::launch::async, call, i));
      for (auto& one : calls) failed += in_time(std::move(one));
      all_done = !failing.has_failed();
    }
    check_equal(in_time(std::async(std::launch::async, [&] { return engine.generate(requests); })), expected);
  }
  CHECK(failed > 100);
}
