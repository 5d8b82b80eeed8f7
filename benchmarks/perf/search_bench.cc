// Speed and quality of search over 100,000 generated documents: agon's BM25 and FTS5's own bm25() on the same index and
// queries, one query at a time. benchmarks/peers/compare_search runs the same with rank-bm25.
//   search_bench FOLDER [DOCUMENTS]    writes corpus.jsonl, queries.jsonl and index there; prints one JSON object
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "core/error.h"
#include "core/json.h"
#include "core/rng.h"
#include "core/text.h"
#include "tools/search/index_builder.h"
#include "tools/search/search_index.h"
#include "tools/search/word_tokenizer.h"

namespace {

using namespace agon;
using namespace agon::tools;

constexpr int kVocabulary = 50'000, kTopics = 1000, kTopicWords = 40, kQueriesOfAKind = 150, kTop = 10;

// A different word for each number: consonants and vowels in turn.
std::string word_of(int number) {
  std::string word;
  for (int left = number + 200; left > 0; left /= 70) {
    word += "bdfgklmnprstvz"[left % 70 / 5];
    word += "aeiou"[left % 5];
  }
  return word;
}

struct Generator {
  explicit Generator(std::uint64_t seed) : rng(seed) {
    double sum = 0;
    for (int i = 0; i < kVocabulary; ++i) cumulative.push_back(sum += 1 / std::pow(i + 2.7, 1.05));
    topics.resize(kTopics);
    for (auto& words : topics)
      for (int i = 0; i < kTopicWords; ++i) words.push_back(rng.between(300, 20'000));
  }
  int common_word() {
    const double at = rng.uniform() * cumulative.back();
    return static_cast<int>(std::upper_bound(cumulative.begin(), cumulative.end(), at) - cumulative.begin());
  }
  std::string text(int topic, int words, double topical) {
    std::string line;
    for (int i = 0; i < words; ++i) {
      if (i > 0) line += ' ';
      line += word_of(rng.chance(topical) ? rng.pick(topics[static_cast<std::size_t>(topic)]) : common_word());
    }
    return line;
  }
  Rng rng;
  std::vector<double> cumulative;
  std::vector<std::vector<int>> topics;
};

struct Query {
  std::string kind, text;
  int topic = 0;
};

void write_corpus(Generator& generator, const std::string& path, int documents) {
  std::ofstream file(path);
  for (int i = 0; i < documents; ++i) {
    const int topic = i % kTopics;
    const std::string title = generator.text(topic, 2, 0.5),
                      text = generator.text(topic, generator.rng.between(40, 160), 0.1);
    file << fmt::format("{{\"id\": \"{}\", \"contents\": \"\\\"{}\\\"\\n{}\"}}\n", i, title, text);
  }
}

// keywords: words of the topic alone; question: the same among words of every document.
std::vector<Query> make_queries(Generator& generator, const std::string& path) {
  std::vector<Query> queries;
  std::ofstream file(path);
  for (int i = 0; i < 2 * kQueriesOfAKind; ++i) {
    Query query{i % 2 ? "question" : "keywords", "", generator.rng.between(0, kTopics - 1)};
    query.text = generator.text(query.topic, 3, 1);
    if (i % 2) query.text += fmt::format(" {}", generator.text(query.topic, 5, 0));
    file << Json{{"kind", query.kind}, {"text", query.text}, {"topic", query.topic}}.dump() << "\n";
    queries.push_back(std::move(query));
  }
  return queries;
}

// A document is relevant if it has the query's topic.
double ndcg(const std::vector<std::uint32_t>& found, int topic) {
  double gain = 0, ideal = 0;
  for (std::size_t i = 0; i < kTop; ++i) {
    const double discount = 1 / std::log2(static_cast<double>(i) + 2);
    ideal += discount;
    if (i < found.size() && static_cast<int>(found[i] % kTopics) == topic) gain += discount;
  }
  return gain / ideal;
}

class Fts5 {
 public:
  explicit Fts5(const std::string& path) : database_(path) {}
  std::vector<std::uint32_t> rank(const std::string& query) {
    std::string match;
    for (const std::string& word : split_words(query))
      match += fmt::format("{}\"{}\"", match.empty() ? "" : " OR ", word);
    statement_.reset();
    statement_.bind(1, match);
    std::vector<std::uint32_t> found;
    while (statement_.executeStep())
      found.push_back(static_cast<std::uint32_t>(statement_.getColumn(0).getInt64() - 1));
    return found;
  }

 private:
  SQLite::Database database_;
  WordTokenizer tokenizer_{database_.getHandle()};  // registers itself with FTS5
  SQLite::Statement statement_{
      database_, fmt::format("SELECT rowid FROM search WHERE search MATCH ? ORDER BY rank LIMIT {}", kTop)};
};

std::vector<std::uint32_t> ours(SearchIndex& index, const std::string& query) {
  std::vector<std::uint32_t> found;
  for (const RankedDocument& document : index.rank(query, kTop)) found.push_back(document.document);
  return found;
}

// The score of a document by the formula, from its text.
struct PlainScorer {
  explicit PlainScorer(SearchIndex& search) : index(search) {
    for (std::int64_t i = 0; i < index.documents(); ++i) {
      const Document document = index.document(static_cast<std::uint32_t>(i));
      const std::vector<std::string> words = split_words(fmt::format("{} {}", document.title, document.text));
      total += static_cast<double>(words.size());
      for (const std::string& word : std::set(words.begin(), words.end())) ++documents_with[word];
    }
  }
  double score(const std::string& query, std::uint32_t number) {
    const Document document = index.document(number);
    const std::vector<std::string> words = split_words(fmt::format("{} {}", document.title, document.text));
    const double documents = static_cast<double>(index.documents()), mean = total / documents;
    double sum = 0;
    for (const std::string& word : split_words(query)) {
      const auto times = static_cast<double>(std::count(words.begin(), words.end(), word));
      sum += std::log1p((documents - documents_with[word] + 0.5) / (documents_with[word] + 0.5)) * times /
             (times + 0.9 * (0.6 + 0.4 * static_cast<double>(words.size()) / mean));
    }
    return sum;
  }
  SearchIndex& index;
  std::map<std::string, double> documents_with;
  double total = 0;
};

// Throws Error if a score differs from the formula, or if a better document with the same words is missing.
void check(SearchIndex& index, const std::vector<Query>& queries) {
  PlainScorer plain(index);
  Rng rng(7);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto found = index.rank(queries[i].text, kTop);
    for (const RankedDocument& document : found)
      if (const double right = plain.score(queries[i].text, document.document); std::abs(document.score - right) > 1e-9)
        throw Error("search_bench: document {} of '{}' scores {}, not {}.", document.document, queries[i].text,
                    document.score, right);
    for (int draw = 0; draw < 200; ++draw) {
      const auto other = static_cast<std::uint32_t>(rng.between(0, static_cast<int>(index.documents()) - 1));
      const bool in = std::any_of(found.begin(), found.end(), [&](const auto& one) { return one.document == other; });
      if (!in && plain.score(queries[i].text, other) > found.back().score + 1e-9)
        throw Error("search_bench: document {} is missing for '{}'.", other, queries[i].text);
    }
  }
}

struct Figures {
  std::vector<double> milliseconds;
  double ndcg = 0;
  Json json() {
    std::sort(milliseconds.begin(), milliseconds.end());
    const auto at = [this](double part) {
      return milliseconds[static_cast<std::size_t>(part * static_cast<double>(milliseconds.size() - 1))];
    };
    return {{"p50_ms", at(0.5)}, {"p95_ms", at(0.95)}, {"ndcg_at_10", ndcg / static_cast<double>(milliseconds.size())}};
  }
};

template <typename Search>
void measure(Figures& figures, const Query& query, Search search) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::uint32_t> found = search(query.text);
  figures.milliseconds.push_back(
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  figures.ndcg += ndcg(found, query.topic);
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(const std::string& folder, int documents) {
  Generator generator(1);
  const std::string corpus = fmt::format("{}/corpus.jsonl", folder), path = fmt::format("{}/index", folder);
  write_corpus(generator, corpus, documents);
  const std::vector<Query> queries = make_queries(generator, fmt::format("{}/queries.jsonl", folder));
  const double build = seconds_of([&] { build_search_index(corpus, path); });
  SearchIndex index(path);
  Fts5 fts5(path);
  check(index, queries);
  Json result{{"documents", documents}, {"build_seconds", build}};
  for (const std::string kind : {"keywords", "question"}) {
    Figures agon, whole, peer;
    for (const Query& query : queries) {
      if (query.kind != kind) continue;
      for (int round = 0; round < 2; ++round) {  // the first warms up
        Figures ignored;
        measure(round ? agon : ignored, query, [&](const std::string& text) { return ours(index, text); });
        measure(round ? peer : ignored, query, [&](const std::string& text) { return fts5.rank(text); });
      }
      measure(whole, query, [&](const std::string& text) {
        index.search(text, kTop, 1);
        return std::vector<std::uint32_t>();
      });
    }
    Json with_text = whole.json();
    with_text.erase("ndcg_at_10");
    result[kind] = {{"agon", agon.json()}, {"agon_with_text_and_snippets", with_text}, {"fts5_bm25", peer.json()}};
    result[kind]["p50_ratio"] =
        result[kind]["agon"]["p50_ms"].get<double>() / result[kind]["fts5_bm25"]["p50_ms"].get<double>();
  }
  fmt::print("{}\n", result.dump(2));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fmt::print(stderr, "usage: search_bench FOLDER [DOCUMENTS]\n"), 2;
  try {
    run(argv[1], argc > 2 ? std::atoi(argv[2]) : 100'000);
  } catch (const Error& error) {
    fmt::print(stderr, "search_bench: {}\n", error.what());
    return 1;
  }
}
