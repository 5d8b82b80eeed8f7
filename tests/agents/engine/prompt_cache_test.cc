#include "agents/engine/prompt_cache.h"

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
  const std::byte* first = nullptr;
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

TEST_CASE("page pool: the same memory holds more pages of a smaller type") {
  using agon::kernels::KeyType;
  TextConfig text = small_config().text;
  text.head_size = 64;  // whole words for every type
  const PagePool floats(text, kMegabyte), bfloats(text, kMegabyte, KeyType::bf16), codes(text, kMegabyte, KeyType::q8);
  CHECK(bfloats.page_bytes() == floats.page_bytes() / 2);
  CHECK(bfloats.max_pages() == 2 * floats.max_pages());
  CHECK(codes.page_bytes() == 2 * 2 * 16 * (64 + 2 * 4));  // layers, keys and values, tokens, codes and scales
  for (const PagePool* pool : {&floats, &bfloats, &codes}) CHECK(pool->max_pages() * pool->page_bytes() <= kMegabyte);
  for (const KeyType type : {KeyType::f32, KeyType::bf16, KeyType::q8}) CHECK(find_key_type(name_of(type)) == type);
  CHECK(find_key_type("auto") == KeyType::f32);
  CHECK_FALSE(find_key_type("q4"));
}

TEST_CASE("page pool: blocks of layers and heads lie apart within a page") {
  PagePool pool(small_config().text, kMegabyte);
  CHECK(pool.head_offset(0, 0) == 0);
  CHECK(pool.head_offset(1, 0) == agon::kernels::key_block_bytes({agon::kernels::KeyType::f32, 16}));
}

TEST_CASE("prompt cache: prompts in use stay, idle ones go when they take too much, longest unused first") {
  const ModelConfig config = small_config();
  PagePool pool(config.text, kMegabyte);
  PromptCache cache(2);
  const auto add = [&](std::int32_t id) {
    EncodedPrompt prompt;
    prompt.ids = {id};
    REQUIRE(pool.promise(1));
    auto cached = std::make_shared<CachedPrompt>(prompt, config, pool);
    cache.add(key_of(prompt, config), cached);
    return cached;
  };
  const auto has = [&](std::uint64_t id) { return cache.find({{0, id}}) != nullptr; };
  auto used = add(1);
  add(2);
  add(3);
  CHECK(has(2));  // is now used later than 3
  add(4);
  CHECK(has(1));
  CHECK(has(2));
  CHECK_FALSE(has(3));
  CHECK(cache.drop_oldest());
  CHECK_FALSE(has(4));
  CHECK(has(2));
  CHECK(cache.drop_oldest());
  CHECK_FALSE(has(2));
  CHECK_FALSE(cache.drop_oldest());
  CHECK(has(1));
}

TEST_CASE("prompt cache: prompts with other pictures are other prompts, equal up to the picture") {
  const ModelConfig config = small_config();
  PagePool pool(config.text, kMegabyte);  // must outlive its borrowers
  PromptCache cache(100);
  // 20 words, two pictures of 2 x 4 patches (2 tokens each), 20 words.
  const auto with = [&](std::uint64_t first, std::uint64_t second) {
    EncodedPrompt prompt;
    prompt.ids.assign(20, 1);
    for (const std::uint64_t name : {first, second}) {
      prompt.ids.insert(prompt.ids.end(), 2, config.image_token_id);
      prompt.ids.insert(prompt.ids.end(), 16, 2);
      prompt.images.push_back(std::make_shared<const PatchedImage>(PatchedImage{{1, 2, 4}, {}, {name, 0}}));
    }
    return prompt;
  };
  const EncodedPrompt known = with(7, 8);
  REQUIRE(pool.promise(4));
  const auto cached = std::make_shared<CachedPrompt>(known, config, pool);
  cache.add(key_of(known, config), cached);
  cached->last_hidden = {0};  // marks the prompt as read
  CHECK(cache.find(key_of(with(7, 8), config)) == cached);
  for (const auto& [other, tokens] : {std::pair(with(7, 9), 38), {with(9, 8), 20}, {with(8, 7), 20}}) {
    const PromptKey key = key_of(other, config);
    CHECK_FALSE(cache.find(key));
    CHECK(cache.longest_start(key).tokens == tokens);
    REQUIRE(pool.promise(fresh_pages(56, cache.longest_start(key))));
    const CachedPrompt next(other, config, pool, cache.longest_start(key));
    CHECK(next.images.size() == (tokens == 38 ? 1 : 2));
    CHECK(next.keys.page_of(15) == cached->keys.page_of(0));
    CHECK(next.keys.page_of(tokens) != cached->keys.page_of(tokens));
  }
}

TEST_CASE("prompt cache: who shares with whom, and what that frees") {
  const ModelConfig config = small_config();
  PagePool pool(config.text, 7 * PagePool(config.text, kMegabyte).page_bytes());
  PromptCache cache(6);
  const auto add = [&](std::vector<std::int32_t> ids) {
    EncodedPrompt prompt;
    prompt.ids = std::move(ids);
    PromptKey key = key_of(prompt, config);
    const SharedStart start = cache.longest_start(key);
    REQUIRE(pool.promise(fresh_pages(std::ssize(key), start)));
    auto cached = std::make_shared<CachedPrompt>(prompt, config, pool, start);
    cache.add(std::move(key), cached);
    return cached;
  };
  const auto drop_all = [&] {
    while (cache.drop_oldest()) continue;
  };
  const auto ids = [](std::vector<std::pair<int, int>> runs) {
    std::vector<std::int32_t> all;
    for (const auto& [count, id] : runs) all.insert(all.end(), static_cast<std::size_t>(count), id);
    return all;
  };
  auto first = add(ids({{32, 1}}));  // 2 pages
  CHECK(first->start.tokens == 0);
  auto second = add(ids({{32, 1}, {8, 2}}));  // waits for the first; one more page
  CHECK((second->start.tokens == 32 && second->follows()));
  auto third = add(ids({{32, 1}, {8, 2}, {8, 3}}));  // waits for the first, not for the second, which waits itself
  CHECK((third->start.tokens == 32 && third->follows() && third->start.of == first));
  auto other = add(ids({{16, 1}, {17, 4}}));  // less than half: not worth waiting
  CHECK((other->start.tokens == 0 && !other->follows()));
  CHECK_FALSE(pool.promise(1));
  other.reset();
  drop_all();
  first->last_hidden = second->last_hidden = third->last_hidden = {0};
  second->start = third->start = {};  // as reading does
  first.reset();
  CHECK_FALSE(pool.promise(4));
  drop_all();  // drops the first; its pages stay with the prompts that share them
  CHECK(cache.find(key_of({ids({{32, 1}}), {}}, config)) == nullptr);
  auto fourth = add(ids({{16, 1}, {16, 5}}));
  CHECK((fourth->start.tokens == 16 && !fourth->follows()));
  fourth->start = {};
  second.reset();
  third.reset();
  drop_all();
  CHECK(pool.promise(5));
  CHECK_FALSE(pool.promise(1));
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
  add(4);
  CHECK_FALSE(cache.find({9, 0}));
  add(5);
  add(5);  // replaces itself
  CHECK(cache.find({4, 0}));
  CHECK(cache.find({5, 0}));
}

TEST_CASE("prompt cache: a prompt that could not be read is dropped even if sequences hold it") {
  const ModelConfig config = small_config();
  PagePool pool(config.text, kMegabyte);
  PromptCache cache(100);
  EncodedPrompt prompt;
  prompt.ids = {1};
  REQUIRE(pool.promise(1));
  const auto cached = std::make_shared<CachedPrompt>(prompt, config, pool);
  cache.add(key_of(prompt, config), cached);
  cache.drop_failed();
  CHECK(cache.find({{0, 1}}));
  cached->failure = std::make_exception_ptr(1);
  cache.drop_failed();
  CHECK_FALSE(cache.find({{0, 1}}));
}

TEST_CASE("prompt cache: a prompt that cannot be made gives its pages back") {
  const ModelConfig config = small_config();
  PagePool pool(config.text, kMegabyte);
  EncodedPrompt prompt;
  prompt.ids.assign(20, config.image_token_id);  // without a picture
  REQUIRE(pool.promise(2));
  CHECK_THROWS(CachedPrompt(prompt, config, pool));
  CHECK(pool.promised() == 0);
}
