#include "agents/engine/memory_plan.h"

#include <catch2/catch.hpp>

#include "agents/engine/local_policy.h"
#include "agents/hub/model_folder.h"
#include "core/error.h"
#include "paths.h"

using namespace agon;
using namespace agon::agents;
using Catch::Contains;
using kernels::KeyType;

namespace {

ModelFolder tiny() { return open_model_folder(agon::test::source_path("models/agon-tiny")); }
ModelFolder text_model(const std::string& name) {
  return open_model_folder(agon::test::golden_path("text_models/" + name));
}

}  // namespace

TEST_CASE("memory plan: weights take what is planned, in every type") {
  for (const ModelFolder& model : {tiny(), text_model("qwen2"), text_model("llama.gguf"), text_model("qwen3.gguf")}) {
    const CheckpointTensors tensors = open_checkpoint_tensors(model.path, model.config);
    for (const WeightKind kind :
         {WeightKind::automatic, WeightKind::f32, WeightKind::bf16, WeightKind::q8, WeightKind::q4}) {
      CAPTURE(model.path.string(), static_cast<int>(kind));
      const auto taken = static_cast<double>(bytes_of(load_engine_weights(model.path, model.config, kind)));
      const auto planned = static_cast<double>(planned_weight_bytes(tensors, model.config, kind));
      CHECK(planned >= 0.98 * taken);
      // Small linears are padded to whole panels, several of them together.
      CHECK(planned <= (model.config.vision ? 1.02 : 1.3) * taken);
    }
  }
}

TEST_CASE("memory plan: keys and values take what the limit leaves") {
  const ModelFolder model = tiny();
  const CheckpointTensors tensors = open_checkpoint_tensors(model.path, model.config);
  const MemoryPlan whole = plan_memory(tensors, model.config, {});
  CHECK(whole.limit == machine_memory());
  CHECK(whole.key_value_bytes == machine_memory() / 4);
  CHECK(whole.fits());
  CHECK(whole.weight_bytes == whole.by_kind[0]);

  const std::int64_t page = PagePool::bytes_for(model.config.text, KeyType::f32);
  MemoryWish wish{.weights = WeightKind::f32, .limit = whole.by_kind[1] + 3 * page};
  MemoryPlan small = plan_memory(tensors, model.config, wish);
  CHECK(small.key_value_bytes == 3 * page);
  CHECK(small.tokens() == 48);
  CHECK_THAT(memory_text(small), Contains("KV for 48 tokens in"));
  wish.keys = KeyType::bf16;
  const std::int64_t small_page = PagePool::bytes_for(model.config.text, KeyType::bf16);
  CHECK(small_page < page);
  CHECK(plan_memory(tensors, model.config, wish).tokens() == 3 * page / small_page * 16);
  wish.limit = whole.by_kind[1];
  small = plan_memory(tensors, model.config, wish);
  CHECK(small.tokens() == 0);
  CHECK_FALSE(small.fits());
}

TEST_CASE("memory plan: a model that does not fit is refused with the figures, and with the types that would") {
  const ModelFolder model = tiny();
  const MemoryPlan plan = plan_memory(open_checkpoint_tensors(model.path, model.config), model.config, {});
  const std::int64_t room = plan.by_kind[static_cast<std::size_t>(WeightKind::q8)] + plan.page_bytes;
  CHECK_THROWS_WITH(require_memory(model.path, model.config, {.weights = WeightKind::f32, .limit = room}),
                    Contains("agon-tiny") && Contains("does not fit into") && Contains("--weights q8 (") &&
                        Contains(" or q4 (") && !Contains("bf16 ("));
  CHECK_THROWS_WITH(make_local_policy(model.path, {.backend = {.memory = {.limit = 1000}}}),
                    Contains("0.0 MB") && Contains("Choose a smaller model"));
  CHECK(require_memory(model.path, model.config, {.weights = WeightKind::q8, .limit = room}).tokens() == 16);
}

TEST_CASE("memory plan: a policy keeps to its limit") {
  const ModelFolder model = tiny();
  const MemoryPlan plan = plan_memory(open_checkpoint_tensors(model.path, model.config), model.config, {});
  const auto policy = make_local_policy(
      model.path, {.threads = 1, .backend = {.memory = {.limit = plan.weight_bytes + 2 * plan.page_bytes}}});
  CHECK(policy->model().engine.memory().tokens() == 32);
  CompletionRequest request{{Message::of(Role::user, "What is 2 + 3?")}, {}, 1, {}};
  request.sampling.max_tokens = 100;
  CHECK_THROWS_WITH(policy->complete({&request, 1}), Contains("holds 32"));
}
