#include "kernels/attention/attention.h"

#include "kernel_testing.h"

using namespace agon::kernels;
using namespace agon::testing;

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

std::vector<float> attend(const std::vector<float>& queries, int count, int head_dim, std::span<const KeyRun> runs) {
  AlignedFloats scratch;
  std::vector<float> out(static_cast<std::size_t>(count * head_dim));
  attention(queries.data(), count, head_dim, head_dim, 0.4f, runs, out.data(), head_dim, scratch);
  return out;
}

}  // namespace

TEST_CASE("attention equals its reference for odd sizes and two runs") {
  const int head_dim = GENERATE(1, 8, 32, 40, 80), count = GENERATE(1, 2, 3, 7, 8);
  const std::int64_t first = GENERATE(0, 1, 16, 37, 100), second = GENERATE(1, 16, 70);
  auto queries = random_floats(static_cast<std::size_t>(count * head_dim), 1);
  for (float& query : queries) query *= 3;
  const Pages prefix = make_pages(first, head_dim, 2), own = make_pages(second, head_dim, 4);
  const KeyRun runs[] = {prefix.run, own.run};
  std::vector<float> expected(queries.size());
  reference::attention(queries.data(), count, head_dim, head_dim, 0.4f, runs, expected.data(), head_dim);
  check_close(attend(queries, count, head_dim, runs), expected, 2e-6, 1e-5);
}

TEST_CASE("attention: a query has the same bits alone and beside others") {
  const int head_dim = GENERATE(8, 32, 40), count = 15;
  const auto queries = random_floats(static_cast<std::size_t>(count * head_dim), 1);
  const Pages prefix = make_pages(53, head_dim, 2), own = make_pages(9, head_dim, 4);
  const KeyRun runs[] = {prefix.run, own.run};
  const auto whole = attend(queries, count, head_dim, runs);
  for (int first = 0, size = 1; first < count; first += size, ++size) {
    const auto begin = static_cast<std::size_t>(first * head_dim), length = static_cast<std::size_t>(size * head_dim);
    const std::vector<float> some(queries.begin() + static_cast<std::ptrdiff_t>(begin),
                                  queries.begin() + static_cast<std::ptrdiff_t>(begin + length));
    CHECK(same_bits(attend(some, size, head_dim, runs).data(), whole.data() + begin, length));
  }
}

TEST_CASE("attention: scores beyond the range of exp stay finite") {
  const int head_dim = 16;
  auto queries = random_floats(head_dim, 1);
  for (float& query : queries) query *= 1e4f;
  const Pages keys = make_pages(40, head_dim, 2);
  for (const float value : attend(queries, 1, head_dim, std::span(&keys.run, 1))) CHECK(std::isfinite(value));
}
