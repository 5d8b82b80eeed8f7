#include "tools/search/bm25.h"

#include <catch2/catch.hpp>
#include <map>

#include "core/rng.h"

using namespace agon;
using namespace agon::tools;

namespace {

std::string postings(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& entries) {
  PostingsWriter writer;
  for (const auto& [document, count] : entries) writer.add(document, count);
  CHECK(writer.documents() == entries.size());
  return writer.bytes();
}

std::vector<std::uint32_t> documents_of(const std::vector<RankedDocument>& ranked) {
  std::vector<std::uint32_t> documents;
  for (const RankedDocument& one : ranked) documents.push_back(one.document);
  return documents;
}

using Documents = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("the inverse document frequency is Lucene's") {
  CHECK(lucene_idf(10, 3) == Approx(std::log(1 + 7.5 / 3.5)));
  CHECK(lucene_idf(10, 10) > 0);
}

TEST_CASE("a word's documents are ranked by times and length") {
  const std::vector<std::uint32_t> lengths = {10, 10, 5, 10};
  const std::string bytes = postings({{0, 1}, {1, 3}, {2, 1}});
  const auto ranked = rank_bm25(std::vector<QueryWord>{{bytes, 2.0}}, lengths, 8.75, {0.9, 0.4}, 10);
  CHECK(documents_of(ranked) == Documents{1, 2, 0});
  CHECK(ranked[2].score == Approx(2.0 / (1 + 0.9 * (0.6 + 0.4 * 10 / 8.75))));
  CHECK(documents_of(rank_bm25(std::vector<QueryWord>{{bytes, 2.0}}, lengths, 8.75, {0.9, 0.4}, 1)) == Documents{1});
}

TEST_CASE("of equal scores the earlier document comes first") {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;
  for (std::uint32_t i = 0; i < 10'000; i += 7) entries.emplace_back(i, 1);
  const std::vector<std::uint32_t> lengths(10'000, 4);
  CHECK(documents_of(rank_bm25(std::vector<QueryWord>{{postings(entries), 1.0}}, lengths, 4, {}, 3)) ==
        Documents{0, 7, 14});
  CHECK(rank_bm25({}, lengths, 4, {}, 3).empty());
}

TEST_CASE("rankings equal those of plain sums") {
  Rng rng(3);
  for (int round = 0; round < 50; ++round) {
    const int documents = rng.between(1, 6000);
    std::vector<std::uint32_t> lengths;
    for (int i = 0; i < documents; ++i) lengths.push_back(static_cast<std::uint32_t>(rng.between(1, 300)));
    std::map<std::uint32_t, double> sums;
    std::vector<std::string> bytes;
    std::vector<double> weights;
    for (int word = rng.between(1, 5); word > 0; --word) {
      const double share = rng.uniform() * rng.uniform(), weight = 0.1 + rng.uniform();
      PostingsWriter writer;
      for (std::uint32_t i = 0; i < lengths.size(); ++i) {
        if (!rng.chance(share)) continue;
        const auto count = static_cast<std::uint32_t>(rng.chance(0.1) ? rng.between(1, 100'000) : 1);
        writer.add(i, count);
        sums[i] += weight * count / (count + 1.2 * (0.25 + 0.75 * lengths[i] / 150));
      }
      bytes.push_back(writer.bytes());
      weights.push_back(weight);
    }
    std::vector<QueryWord> words;
    for (std::size_t i = 0; i < bytes.size(); ++i) words.push_back({bytes[i], weights[i]});
    std::vector<RankedDocument> expected;
    for (const auto& [document, score] : sums) expected.push_back({document, score});
    std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    expected.resize(std::min<std::size_t>(expected.size(), 20));
    const auto ranked = rank_bm25(words, lengths, 150, {1.2, 0.75}, 20);
    REQUIRE(ranked.size() == expected.size());
    for (std::size_t i = 0; i < ranked.size(); ++i) CHECK(ranked[i].score == Approx(expected[i].score).epsilon(1e-12));
  }
}

TEST_CASE("damaged postings end, and stay within the documents") {
  Rng rng(4);
  const std::vector<std::uint32_t> lengths(5000, 3);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(static_cast<std::size_t>(rng.between(0, 60)), '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng.chance(0.3) ? 0xFF : rng.between(0, 255));
    for (const RankedDocument& one : rank_bm25(std::vector<QueryWord>{{bytes, 1.0}}, lengths, 3, {}, 5))
      CHECK(one.document < lengths.size());
  }
}
