#include "kernels/attention/attention.h"

#include "kernel_testing.h"

using namespace agon::kernels;
using namespace agon::test;

namespace {

// Keys and values of one head on pages that hold something else before and after the block.
struct Pages {
  std::vector<std::vector<float>> storage;
  std::vector<const float*> list;
  KeyRun run;
};

Pages make_pages(std::int64_t keys, int head_dim, std::uint32_t seed) {
  constexpr std::int64_t kOffset = 5;
  Pages pages;
  const auto key = random_floats(static_cast<std::size_t>(keys * head_dim), seed);
  const auto value = random_floats(static_cast<std::size_t>(keys * head_dim), seed + 1);
  for (std::int64_t j = 0; j < keys; ++j) {
    if (j % kKeyBlock == 0)  // what was never put is NaN: it must not matter
      pages.storage.emplace_back(static_cast<std::size_t>(kOffset + key_block_floats(head_dim)), NAN);
    put_key(key.data() + j * head_dim, value.data() + j * head_dim, head_dim, pages.storage.back().data() + kOffset,
            static_cast<int>(j % kKeyBlock));
  }
  for (const auto& page : pages.storage) pages.list.push_back(page.data());
  pages.run = {pages.list.data(), kOffset, keys};
  return pages;
}

struct Answers {
  std::vector<float> queries, out;
  std::vector<AttentionQuery> list;
};

// `count` queries, `heads` of each own run.
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

}  // namespace

TEST_CASE("attention equals its reference for odd sizes, shared keys and own ones") {
  const int head_dim = GENERATE(1, 8, 32, 40, 80), count = GENERATE(1, 2, 3, 7, 37);
  const std::int64_t shared_keys = GENERATE(0, 1, 16, 37, 100);
  const Pages shared = make_pages(shared_keys, head_dim, 2);
  const Pages own[] = {make_pages(1, head_dim, 4), make_pages(16, head_dim, 6), make_pages(70, head_dim, 8)};
  Answers found = ask(count, 2, head_dim, 3, {own[0].run, own[1].run, own[2].run});
  Answers expected = ask(count, 2, head_dim, 3, {own[0].run, own[1].run, own[2].run});
  AlignedFloats scratch;
  attention(found.list, shared.run, head_dim, 0.4f, scratch);
  reference::attention(expected.list, shared.run, head_dim, 0.4f);
  check_close(found.out, expected.out, 2e-6, 1e-5);
}

TEST_CASE("attention: a query has the same bits alone and beside others") {
  const int head_dim = GENERATE(8, 32, 40), count = 35;
  const Pages shared = make_pages(53, head_dim, 2);
  const Pages own[] = {make_pages(9, head_dim, 4), make_pages(33, head_dim, 6)};
  Answers whole = ask(count, 3, head_dim, 1, {own[0].run, own[1].run});
  AlignedFloats scratch, other;
  attention(whole.list, shared.run, head_dim, 0.4f, scratch);
  Answers some = ask(count, 3, head_dim, 1, {own[0].run, own[1].run});
  for (std::size_t first = 0, size = 1; first < count; first += size, ++size)
    attention(std::span(some.list).subspan(first, std::min<std::size_t>(size, count - first)), shared.run, head_dim,
              0.4f, other);
  CHECK(same_bits(whole.out.data(), some.out.data(), whole.out.size()));
}

TEST_CASE("attention: tokens behind one another in a sequence have the bits that each has alone") {
  const int head_dim = GENERATE(8, 32, 40), heads = GENERATE(1, 2, 3), tokens = 9;
  const std::int64_t before = GENERATE(0, 3, 14, 40);
  const Pages shared = make_pages(53, head_dim, 2), own = make_pages(before + tokens, head_dim, 4);
  std::vector<KeyRun> runs;
  for (std::int64_t token = 1; token <= tokens; ++token)
    runs.push_back({own.run.pages, own.run.offset, before + token});
  Answers together = ask(tokens * heads, heads, head_dim, 1, runs), alone = together;
  AlignedFloats scratch;
  attention(together.list, shared.run, head_dim, 0.4f, scratch);
  alone.out.assign(alone.out.size(), NAN);
  for (std::size_t q = 0; q < alone.list.size(); ++q) {
    alone.list[q].out = alone.out.data() + q * static_cast<std::size_t>(head_dim);
    attention(std::span(alone.list).subspan(q, 1), shared.run, head_dim, 0.4f, scratch);
  }
  CHECK(same_bits(together.out.data(), alone.out.data(), together.out.size()));
}

TEST_CASE("attention: the same bits wherever the keys are parted at a multiple of 16") {
  const int head_dim = GENERATE(8, 32);
  const std::int64_t keys = GENERATE(1, 16, 17, 75, 160);
  const Pages pages = make_pages(keys, head_dim, 2);
  AlignedFloats scratch;
  Answers whole = ask(6, 2, head_dim, 1, {pages.run});
  attention(whole.list, {}, head_dim, 0.4f, scratch);
  for (std::int64_t cut = 0; cut <= keys; cut += kKeyBlock) {
    Answers parted = ask(6, 2, head_dim, 1, {{pages.run.pages + cut / kKeyBlock, pages.run.offset, keys - cut}});
    attention(parted.list, {pages.run.pages, pages.run.offset, cut}, head_dim, 0.4f, scratch);
    CHECK(same_bits(whole.out.data(), parted.out.data(), whole.out.size()));
  }
}

TEST_CASE("attention: scores beyond the range of exp stay finite") {
  const int head_dim = 16;
  const Pages keys = make_pages(40, head_dim, 2);
  Answers found = ask(3, 1, head_dim, 1e4f, {keys.run});
  AlignedFloats scratch;
  attention(found.list, {}, head_dim, 0.4f, scratch);
  for (const float value : found.out) CHECK(std::isfinite(value));
}
