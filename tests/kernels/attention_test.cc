#include "kernels/attention/attention.h"

#include <bit>

#include "kernel_testing.h"
#include "kernels/attention/bfloat_products.h"
#include "kernels/linear/bfloat/linear.h"

using namespace agon::kernels;
using namespace agon::test;

namespace {

constexpr KeyType kTypes[] = {KeyType::f32, KeyType::bf16, KeyType::q8};

// Keys and values of one head on pages with other data before and after the block.
struct Pages {
  std::vector<std::vector<std::byte>> storage;
  std::vector<const std::byte*> list;
  KeyRun run;
};

constexpr std::int64_t kOffset = 20;

Pages make_pages(std::int64_t keys, const KeyFormat& format, std::uint32_t seed) {
  Pages pages;
  const auto size = static_cast<std::int64_t>(format.head_dim);
  const auto key = random_floats(static_cast<std::size_t>(keys * size), seed);
  const auto value = random_floats(static_cast<std::size_t>(keys * size), seed + 1);
  for (std::int64_t j = 0; j < keys; ++j) {
    if (j % kKeyBlock == 0)  // unwritten places are NaN in every type and must not matter
      pages.storage.emplace_back(static_cast<std::size_t>(kOffset + key_block_bytes(format)), std::byte{255});
    put_key(format, key.data() + j * size, value.data() + j * size, pages.storage.back().data() + kOffset,
            static_cast<int>(j % kKeyBlock));
  }
  for (const auto& page : pages.storage) pages.list.push_back(page.data());
  pages.run = {pages.list.data(), kOffset, keys};
  return pages;
}

// The contents of the pages in fp32.
Pages decoded(const Pages& pages, const KeyFormat& format) {
  const KeyFormat floats{KeyType::f32, format.head_dim};
  std::vector<float> key(static_cast<std::size_t>(format.head_dim)), value(key.size());
  Pages copy;
  for (std::int64_t j = 0; j < pages.run.keys; ++j) {
    const int slot = static_cast<int>(j % kKeyBlock);
    if (slot == 0) copy.storage.emplace_back(static_cast<std::size_t>(key_block_bytes(floats)), std::byte{255});
    reference::get_key(format, pages.list[static_cast<std::size_t>(j / kKeyBlock)] + kOffset, slot, key.data(),
                       value.data());
    put_key(floats, key.data(), value.data(), copy.storage.back().data(), slot);
  }
  for (const auto& page : copy.storage) copy.list.push_back(page.data());
  copy.run = {copy.list.data(), 0, pages.run.keys};
  return copy;
}

struct Answers {
  std::vector<float> queries, out;
  std::vector<AttentionQuery> list;
};

// `count` queries of `heads` heads each, for every run.
Answers ask(int count, int heads, int head_dim, float size, const std::vector<KeyRun>& own) {
  Answers answers;
  answers.queries = random_floats(static_cast<std::size_t>(count * head_dim), 1);
  for (float& query : answers.queries) query *= size;
  answers.out.resize(answers.queries.size());
  for (int q = 0; q < count; ++q)
    answers.list.push_back({answers.queries.data() + q * head_dim, answers.out.data() + q * head_dim,
                            own[static_cast<std::size_t>(q / heads) % own.size()]});
  return answers;
}

// Whether queries and weights are rounded to bfloat16 for keys of this type.
bool rounds(KeyType type) { return type == KeyType::bf16 && has_bfloat_products(); }

float to_bfloat(float x) {
  std::uint16_t rounded;
  round_to_bfloat(&x, 1, &rounded);
  return std::bit_cast<float>(std::uint32_t{rounded} << 16);
}

}  // namespace

TEST_CASE("attention equals its reference for odd sizes, shared keys and own ones") {
  const int head_dim = GENERATE(1, 8, 32, 40, 80), count = GENERATE(1, 2, 3, 7, 37);
  const std::int64_t shared_keys = GENERATE(0, 1, 16, 37, 100);
  for (const KeyType type : kTypes) {
    const KeyFormat format{type, head_dim};
    const Pages shared = make_pages(shared_keys, format, 2);
    const Pages own[] = {make_pages(1, format, 4), make_pages(16, format, 6), make_pages(70, format, 8)};
    Answers found = ask(count, 2, head_dim, 3, {own[0].run, own[1].run, own[2].run});
    Answers expected = ask(count, 2, head_dim, 3, {own[0].run, own[1].run, own[2].run});
    AlignedFloats scratch;
    attention(found.list, shared.run, format, 0.4f, scratch);
    reference::attention(expected.list, shared.run, format, 0.4f);
    if (rounds(type))
      check_close(found.out, expected.out, 0.02, 0);
    else
      check_close(found.out, expected.out, 2e-6, 1e-5);
  }
}

TEST_CASE("attention: bfloat16 products round queries and weights, nothing else") {
  if (!rounds(KeyType::bf16)) return;
  const int head_dim = GENERATE(1, 5, 32, 64, 80, 128), count = GENERATE(1, 2, 3, 7, 37);
  const std::int64_t shared_keys = GENERATE(0, 16, 37, 100), own_keys = GENERATE(1, 2, 71);
  const KeyFormat format{KeyType::bf16, head_dim};
  const Pages shared = make_pages(shared_keys, format, 2), own = make_pages(own_keys, format, 4);
  Answers found = ask(count, 1, head_dim, 3, {own.run}), expected = found;
  for (float& query : expected.queries) query = to_bfloat(query);
  for (std::size_t q = 0; q < expected.list.size(); ++q) {
    expected.list[q].query = expected.queries.data() + q * static_cast<std::size_t>(head_dim);
    expected.list[q].out = expected.out.data() + q * static_cast<std::size_t>(head_dim);
  }
  AlignedFloats scratch;
  attention(found.list, shared.run, format, 0.4f, scratch);
  reference::attention(expected.list, shared.run, format, 0.4f);
  // A weight is rounded by at most 2^-8 of itself, and values are within [-1, 1].
  check_close(found.out, expected.out, 1.0 / 256, 0);
}

TEST_CASE("attention: keys of a smaller type give the bits that their values give in fp32") {
  const int head_dim = GENERATE(1, 8, 32, 40, 80, 128), count = GENERATE(1, 3, 37);
  for (const KeyType type : {KeyType::bf16, KeyType::q8}) {
    if (rounds(type)) continue;
    const KeyFormat format{type, head_dim}, floats{KeyType::f32, head_dim};
    const Pages shared = make_pages(53, format, 2), own = make_pages(70, format, 4);
    const Pages plain_shared = decoded(shared, format), plain_own = decoded(own, format);
    Answers kept = ask(count, 1, head_dim, 3, {own.run}), plain = ask(count, 1, head_dim, 3, {plain_own.run});
    AlignedFloats scratch;
    attention(kept.list, shared.run, format, 0.4f, scratch);
    attention(plain.list, plain_shared.run, floats, 0.4f, scratch);
    CHECK(same_bits(kept.out.data(), plain.out.data(), kept.out.size()));
  }
}

TEST_CASE("attention: bf16 keeps 8 bits of a value, q8 a part in 254 of the largest of 32") {
  const int head_dim = GENERATE(1, 31, 32, 40, 80), slot = GENERATE(0, 7, 15);
  const auto size = static_cast<std::size_t>(head_dim);
  const std::vector<float> key = random_floats(size, 1), value = random_floats(size, 2);
  for (const KeyType type : kTypes) {
    const KeyFormat format{type, head_dim};
    std::vector<std::byte> block(static_cast<std::size_t>(key_block_bytes(format)), std::byte{255});
    put_key(format, key.data(), value.data(), block.data(), slot);
    std::vector<float> kept_key(size), kept_value(size);
    reference::get_key(format, block.data(), slot, kept_key.data(), kept_value.data());
    for (const auto& [kept, given] : {std::pair(kept_key, key), std::pair(kept_value, value)})
      for (std::size_t i = 0; i < size; ++i) {
        float largest = 0;
        for (std::size_t j = i / 32 * 32; j < std::min(size, i / 32 * 32 + 32); ++j)
          largest = std::max(largest, std::abs(given[j]));
        const float allowed = type == KeyType::f32    ? 0
                              : type == KeyType::bf16 ? std::abs(given[i]) / 256
                                                      : largest / 253.9f;
        CHECK(std::abs(kept[i] - given[i]) <= allowed);
      }
  }
}

TEST_CASE("attention: keys of zeros stay zeros, and what is not finite is seen in every type") {
  const int head_dim = 40;
  for (const KeyType type : kTypes) {
    const KeyFormat format{type, head_dim};
    std::vector<std::byte> block(static_cast<std::size_t>(key_block_bytes(format)));
    std::vector<float> key(head_dim), value(head_dim), kept_key(head_dim, 1), kept_value(head_dim, 1);
    key[3] = 1e-40f;  // too small for a scale
    put_key(format, key.data(), value.data(), block.data(), 1);
    reference::get_key(format, block.data(), 1, kept_key.data(), kept_value.data());
    for (int i = 0; i < head_dim; ++i) {
      CHECK(std::abs(kept_key[static_cast<std::size_t>(i)]) <= 1.1e-40f);
      CHECK(kept_value[static_cast<std::size_t>(i)] == 0);
    }
    for (const float fault : {NAN, INFINITY, -INFINITY}) {
      value[35] = fault;
      put_key(format, key.data(), value.data(), block.data(), 1);
      reference::get_key(format, block.data(), 1, kept_key.data(), kept_value.data());
      CHECK_FALSE(std::isfinite(kept_value[35]));
      CHECK(kept_value[0] == 0);
    }
  }
}

TEST_CASE("attention: the bytes of a block") {
  CHECK(key_block_bytes({KeyType::f32, 64}) == 2 * 16 * 64 * 4);
  CHECK(key_block_bytes({KeyType::bf16, 64}) == 2 * 16 * 64 * 2);
  CHECK(key_block_bytes({KeyType::q8, 64}) == 2 * 16 * (64 + 2 * 4));
  for (const KeyType type : kTypes)
    for (const int head_dim : {1, 8, 40, 80}) CHECK(key_block_bytes({type, head_dim}) % 64 == 0);
}

TEST_CASE("attention: a query has the same bits alone and beside others") {
  const int head_dim = GENERATE(8, 32, 40), count = 35;
  const KeyFormat format{GENERATE(KeyType::f32, KeyType::bf16, KeyType::q8), head_dim};
  const Pages shared = make_pages(53, format, 2);
  const Pages own[] = {make_pages(9, format, 4), make_pages(33, format, 6)};
  Answers whole = ask(count, 3, head_dim, 1, {own[0].run, own[1].run});
  AlignedFloats scratch, other;
  attention(whole.list, shared.run, format, 0.4f, scratch);
  Answers some = ask(count, 3, head_dim, 1, {own[0].run, own[1].run});
  for (std::size_t first = 0, size = 1; first < count; first += size, ++size)
    attention(std::span(some.list).subspan(first, std::min<std::size_t>(size, count - first)), shared.run, format, 0.4f,
              other);
  CHECK(same_bits(whole.out.data(), some.out.data(), whole.out.size()));
}

TEST_CASE("attention: tokens behind one another in a sequence have the bits that each has alone") {
  const int head_dim = GENERATE(8, 32, 40), heads = GENERATE(1, 2, 3), tokens = 9;
  const std::int64_t before = GENERATE(0, 3, 14, 40);
  const KeyFormat format{GENERATE(KeyType::f32, KeyType::bf16, KeyType::q8), head_dim};
  const Pages shared = make_pages(53, format, 2), own = make_pages(before + tokens, format, 4);
  std::vector<KeyRun> runs;
  for (std::int64_t token = 1; token <= tokens; ++token)
    runs.push_back({own.run.pages, own.run.offset, before + token});
  Answers together = ask(tokens * heads, heads, head_dim, 1, runs), alone = together;
  AlignedFloats scratch;
  attention(together.list, shared.run, format, 0.4f, scratch);
  alone.out.assign(alone.out.size(), NAN);
  for (std::size_t q = 0; q < alone.list.size(); ++q) {
    alone.list[q].out = alone.out.data() + q * static_cast<std::size_t>(head_dim);
    attention(std::span(alone.list).subspan(q, 1), shared.run, format, 0.4f, scratch);
  }
  CHECK(same_bits(together.out.data(), alone.out.data(), together.out.size()));
}

TEST_CASE("attention: the same bits wherever the keys are parted at a multiple of 16") {
  const int head_dim = GENERATE(8, 32);
  const std::int64_t keys = GENERATE(1, 16, 17, 75, 160);
  const KeyFormat format{GENERATE(KeyType::f32, KeyType::bf16, KeyType::q8), head_dim};
  const Pages pages = make_pages(keys, format, 2);
  AlignedFloats scratch;
  Answers whole = ask(6, 2, head_dim, 1, {pages.run});
  attention(whole.list, {}, format, 0.4f, scratch);
  for (std::int64_t cut = 0; cut <= keys; cut += kKeyBlock) {
    Answers parted = ask(6, 2, head_dim, 1, {{pages.run.pages + cut / kKeyBlock, pages.run.offset, keys - cut}});
    attention(parted.list, {pages.run.pages, pages.run.offset, cut}, format, 0.4f, scratch);
    CHECK(same_bits(whole.out.data(), parted.out.data(), whole.out.size()));
  }
}

TEST_CASE("attention: scores beyond the range of exp stay finite") {
  const int head_dim = 16;
  const KeyFormat format{GENERATE(KeyType::f32, KeyType::bf16, KeyType::q8), head_dim};
  const Pages keys = make_pages(40, format, 2);
  Answers found = ask(3, 1, head_dim, 1e4f, {keys.run});
  AlignedFloats scratch;
  attention(found.list, {}, format, 0.4f, scratch);
  for (const float value : found.out) CHECK(std::isfinite(value));
}
