#include "agents/local/prompt_cache.h"

#include <catch2/catch.hpp>

using namespace agon::agents;

namespace {

constexpr std::int64_t kMegabyte = 1 << 20;

ModelConfig small_config() {
  ModelConfig config;
  config.text.hidden_size = 32;
  config.text.num_attention_heads = 2;
  config.text.num_key_value_heads = 1;
  config.text.num_hidden_layers = 2;
  config.text.mrope_section = {4, 2, 2};
  return config;
}

}  // namespace

TEST_CASE("page pool: promises stay within the memory, pages come back and are used again") {
  PagePool pool(small_config().text, kMegabyte);
  REQUIRE(pool.page_bytes() == 2 * 2 * 16 * 16 * 4);  // layers, keys and values, tokens, head size, float
  REQUIRE(pool.max_pages() == kMegabyte / pool.page_bytes());
  CHECK_FALSE(pool.promise(pool.max_pages() + 1));
  REQUIRE(pool.promise(pool.max_pages()));
  CHECK_FALSE(pool.promise(1));
  const float* first = nullptr;
  {
    KeyValues keys(pool, pool.max_pages());
    keys.require(17);
    first = keys.page_of(0);
    CHECK(keys.page_of(15) == first);
    CHECK(keys.page_of(16) != first);
    keys.require(3);
    CHECK(keys.page_of(0) == first);
  }
  REQUIRE(pool.promise(1));
  KeyValues again(pool, 1);
  again.require(1);
  CHECK((again.page_of(0) == first || again.page_of(0) != nullptr));
}

TEST_CASE("page pool: blocks of layers and heads lie apart within a page") {
  PagePool pool(small_config().text, kMegabyte);
  CHECK(pool.head_offset(0, 0) == 0);
  CHECK(pool.head_offset(1, 0) == agon::kernels::key_block_floats(16));
}

TEST_CASE("prompt cache: prompts in use stay, idle ones go when they take too much, longest unused first") {
  const ModelConfig config = small_config();
  PagePool pool(config.text, kMegabyte);
  PromptCache cache(2);
  const auto add = [&](std::int32_t id) {
    EncodedPrompt prompt;
    prompt.ids = {id};
    REQUIRE(pool.promise(1));
    auto cached = std::make_shared<CachedPrompt>(prompt, config, pool, 1);
    cache.add(key_of(prompt), cached);
    return cached;
  };
  const auto has = [&](std::int32_t id) { return cache.find({{id}, {}}) != nullptr; };
  auto used = add(1);
  add(2);
  add(3);
  CHECK(has(2));  // is now used later than 3
  add(4);
  CHECK(has(1));
  CHECK(has(2));
  CHECK_FALSE(has(3));
  cache.drop_idle();
  CHECK(has(1));
  CHECK_FALSE(has(2));
  CHECK_FALSE(has(4));
}

TEST_CASE("prompt cache: prompts with other pictures are other prompts") {
  const ModelConfig config = small_config();
  PagePool pool(config.text, kMegabyte);  // outlives what it lends to
  PromptCache cache(10);
  REQUIRE(pool.promise(1));
  EncodedPrompt prompt;
  prompt.ids = {1};
  cache.add({{1}, {{1, 2}}}, std::make_shared<CachedPrompt>(prompt, config, pool, 1));
  CHECK(cache.find({{1}, {{1, 2}}}));
  CHECK_FALSE(cache.find({{1}, {{1, 3}}}));
  CHECK_FALSE(cache.find({{1}, {}}));
}

TEST_CASE("image cache: holds what fits, drops the longest unused") {
  ImageCache cache(2 * 100 * sizeof(float));
  const auto add = [&](std::uint64_t name) {
    cache.add({name, 0}, std::make_shared<const std::vector<float>>(100, static_cast<float>(name)));
  };
  add(1);
  add(2);
  CHECK(cache.find({1, 0})->at(0) == 1.0f);
  add(3);
  CHECK(cache.find({1, 0}));
  CHECK_FALSE(cache.find({2, 0}));
  CHECK(cache.find({3, 0}));
  cache.add({9, 0}, std::make_shared<const std::vector<float>>(1000));  // too large: alone
  CHECK(cache.find({9, 0}));
  CHECK_FALSE(cache.find({3, 0}));
}
