#include "tools/search/search_index.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>
#include <thread>

#include "core/error.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "core/json_parse.h"
#include "core/rng.h"
#include "core/text.h"
#include "error_of.h"
#include "paths.h"
#include "temp_folder.h"
#include "tools/search/index_builder.h"
#include "tools/search/index_schema.h"
#include "tools/search/snippet.h"
#include "tools/search/word_tokenizer.h"

using namespace agon;
using namespace agon::tools;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

const std::string kPets = R"({"id": "1", "contents": "\"Cats\"\nThe cat sat on the mat. Cats like mats."}
{"id": "2", "contents": "\"Dogs\"\nA dog is not a cat, but it runs."}
{"id": "3", "contents": "\"Café\"\nUn café, the naïve word of an \"operator\" AND NOT OR NEAR."}
)";

struct Folder {
  test::TempFolder folder;
  fs::path corpus = folder / "docs.jsonl", index = folder / "docs.index";
  IndexReport build(const std::string& lines) const {
    write_file_atomically(corpus, lines);
    return build_search_index(corpus, index);
  }
  std::string failure(const std::string& lines) const {
    return test::error_of([&] { build(lines); });
  }
};

std::vector<std::string> found(SearchIndex& index, const std::string& query, int top_k = 10) {
  std::vector<std::string> ids;
  for (const SearchHit& hit : index.search(query, top_k, 1).hits) ids.push_back(hit.id);
  return ids;
}
using Ids = std::vector<std::string>;

std::string many_documents(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i)
    lines +=
        fmt::format("{{\"id\": \"{}\", \"contents\": \"\\\"T{}\\\"\\nword{} of all things common\"}}\n", i, i, i % 17);
  return lines;
}

}  // namespace

TEST_CASE("documents are found by their words, accents and endings aside") {
  const Folder folder;
  const IndexReport report = folder.build(kPets);
  CHECK(report.documents == 3);
  CHECK(report.broken == 0);
  CHECK(report.words == 10 + 10 + 13);
  SearchIndex index(folder.index);
  CHECK(index.documents() == 3);
  CHECK(found(index, "cats") == Ids{"1", "2"});
  CHECK(found(index, "running DOG") == Ids{"2"});
  CHECK(found(index, "cafe NAIVE") == Ids{"3"});
  CHECK(found(index, "elephant").empty());
  CHECK(found(index, "cat", 1) == Ids{"1"});
  const SearchHit hit = index.search("dog", 1, 1).hits.at(0);
  CHECK(hit.title == "Dogs");
  CHECK(hit.text == "A dog is not a cat, but it runs.");
  CHECK(hit.snippet == hit.text);
  CHECK(hit.score.value() > 0);
  CHECK(index.identity()["corpus"] == report.corpus_hash);
  CHECK(index.identity()["version"] == kIndexVersion);
  CHECK_FALSE(fs::exists(folder.index.string() + ".partial"));
}

TEST_CASE("any text is a legal query") {
  const Folder folder;
  folder.build(kPets);
  SearchIndex index(folder.index);
  CHECK(found(index, "\"cat\"") == Ids{"1", "2"});
  CHECK(found(index, "cat\" OR \"dog").size() == 3);  // "or" is a word like others
  CHECK(found(index, "operator AND NOT OR NEAR(cat)").front() == "3");
  CHECK(found(index, "title:cat* ^dog + (") == Ids{"2", "1"});
  CHECK(found(index, "").empty());
  CHECK(found(index, " \n\t").empty());
  CHECK(found(index, "?!'\"();--/*^:").empty());
  CHECK(found(index, "'; DROP TABLE documents; --").empty());
  CHECK(found(index, std::string("cat\0dog", 7)) == Ids{"2", "1"});
  CHECK(found(index, "\xff\xfe cat \xc3") == Ids{"1", "2"});
  CHECK(found(index, std::string(100'000, '"')).empty());
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    std::string query;
    for (int i = rng.between(0, 40); i > 0; --i) query += static_cast<char>(rng.between(0, 255));
    CHECK_NOTHROW(found(index, query));
  }
}

TEST_CASE("a query of a megabyte takes bounded time") {
  const Folder folder;
  folder.build(many_documents(2000));
  SearchIndex index(folder.index);
  std::string repeated, different;
  while (repeated.size() < 1 << 20) repeated += "common things ";
  for (int i = 0; different.size() < 1 << 20; ++i) different += fmt::format("word{} ", i);
  const auto start = std::chrono::steady_clock::now();
  CHECK(found(index, repeated).size() == 10);
  CHECK(found(index, different).size() == 10);
  CHECK(found(index, std::string(1 << 20, 'a')).empty());
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE("rankings, scores and nDCG are the oracle's") {
  const Json golden = Json::parse(read_file(agon::test::golden_path("bm25/rankings.json")));
  const Folder folder;
  std::string lines;
  for (const Json& document : golden["documents"]) lines += document.dump() + "\n";
  folder.build(lines);
  const auto ndcg = [&](const std::vector<int>& documents, int topic) {
    double gain = 0, ideal = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      ideal += 1 / std::log2(static_cast<double>(i) + 2);
      if (i < documents.size() && documents[i] % golden["topics"].get<int>() == topic)
        gain += 1 / std::log2(static_cast<double>(i) + 2);
    }
    return gain / ideal;
  };
  for (const Json& ranking : golden["rankings"]) {
    SearchIndex index(folder.index, {ranking["k1"], ranking["b"]});
    double mean = 0;
    const int judged = golden["judged"];
    for (int number = 0; number < static_cast<int>(ranking["cases"].size()); ++number) {
      const Json& one = ranking["cases"][static_cast<std::size_t>(number)];
      const std::string query = one["query"];
      CAPTURE(query);
      const auto ranked = index.rank(query, 10);
      REQUIRE(ranked.size() == one["found"].size());
      std::vector<int> documents;
      for (std::size_t i = 0; i < ranked.size(); ++i) {
        CHECK(ranked[i].document == one["found"][i][0]);
        CHECK(ranked[i].score == Approx(one["found"][i][1].get<double>()).epsilon(1e-12));
        documents.push_back(static_cast<int>(ranked[i].document));
      }
      if (number < judged) mean += ndcg(documents, one["topic"]) / judged;
    }
    CHECK(mean == Approx(ranking["ndcg_at_10"].get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("broken lines are left out and told, unless they are more than a tenth") {
  const Folder folder;
  const IndexReport report =
      folder.build(many_documents(30) + "{broken\n\n" + R"({"id": 5})" + "\n" + R"({"id": "x", "contents": "last"})");
  CHECK(report.documents == 31);
  CHECK(report.broken == 2);
  REQUIRE(report.first_broken.size() == 2);
  CHECK(report.first_broken[0].line == 31);
  CHECK_THAT(report.first_broken[0].fault, Contains("not JSON"));
  CHECK(report.first_broken[1].line == 33);
  const std::string before = read_file(folder.index);
  CHECK_THAT(folder.failure("{broken\n" + many_documents(8)),
             Contains("1 of 9 lines are broken") && Contains("line 1: not JSON"));
  CHECK_THAT(folder.failure("\n \n"), Contains("no documents"));
  CHECK_THAT(folder.failure("x\n"), Contains("1 of 1 lines are broken"));
  CHECK(read_file(folder.index) == before);  // the existing index stays
  CHECK_FALSE(fs::exists(folder.index.string() + ".partial"));
}

TEST_CASE("the same corpus gives the same bytes, another one another hash") {
  const Folder folder, again, other;
  const IndexReport report = folder.build(many_documents(100));
  CHECK(again.build(many_documents(100)).corpus_hash == report.corpus_hash);
  CHECK(read_file(again.index) == read_file(folder.index));
  CHECK(other.build(many_documents(101)).corpus_hash != report.corpus_hash);
}

TEST_CASE("a document without a word, and texts with NUL, are kept") {
  const Folder folder;
  folder.build(R"({"id": "a", "contents": "!!!"})"
               "\n"
               R"({"id": "b", "contents": "one\u0000two"})"
               "\n");
  SearchIndex index(folder.index);
  CHECK(found(index, "two") == Ids{"b"});
  CHECK(index.document(0).text == "!!!");
  CHECK(index.document(1).text == std::string("one\0two", 7));
}

TEST_CASE("a killed build leaves what was there, and the next one works") {
  const Folder folder;
  folder.build(kPets);
  const std::string before = read_file(folder.index);
  write_file_atomically(folder.corpus, many_documents(200'000));
  const pid_t child = ::fork();
  if (child == 0) {
    build_search_index(folder.corpus, folder.index);
    ::_exit(0);
  }
  while (!fs::exists(folder.index.string() + ".partial")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(read_file(folder.index) == before);
  CHECK(fs::exists(folder.index.string() + ".partial"));
  folder.build(many_documents(3));
  CHECK_FALSE(fs::exists(folder.index.string() + ".partial"));
  CHECK(SearchIndex(folder.index).documents() == 3);
}

TEST_CASE("a disk that fills ends the build with a word, and leaves what was there") {
  const Folder folder;
  folder.build(kPets);
  const std::string before = read_file(folder.index);
  write_file_atomically(folder.corpus, many_documents(20'000));
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 18, 1 << 18};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      build_search_index(folder.corpus, folder.index);
    } catch (const Error& error) {
      ::_exit(std::string_view(error.what()).find("Is the disk full?") == std::string_view::npos ? 2 : 7);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(read_file(folder.index) == before);
  CHECK_FALSE(fs::exists(folder.index.string() + ".partial"));
}

TEST_CASE("two builds of one index do not mix") {
  const Folder folder;
  write_file_atomically(folder.index.string() + ".partial", "of another process");
  std::optional<FileLock> held(Descriptor(::open((folder.index.string() + ".partial").c_str(), O_RDWR | O_CLOEXEC)));
  REQUIRE(held->try_lock());
  CHECK_THAT(folder.failure(kPets), Contains("another process is writing this index"));
  held.reset();
  CHECK(folder.failure(kPets).empty());
}

TEST_CASE("two documents of one id are refused, with both lines") {
  const Folder folder;
  CHECK_THAT(folder.failure(kPets + "\n" + R"({"id": 2, "contents": "again"})" + "\n"),
             Contains("docs.jsonl:5: the id \"2\" is already used in line 2"));
  CHECK_THAT(folder.failure(many_documents(5000) + R"({"id": "4321", "contents": "again"})"),
             Contains(":5001: ") && Contains("line 4322"));
  // The line number is the id of a document without one.
  CHECK_THAT(folder.failure(R"({"id": "1", "contents": "a"})"
                            "\n"
                            R"({"contents": "b"})"),
             Contains(":2: ") && Contains("line 1"));
  CHECK(folder
            .failure(R"({"contents": "a"})"
                     "\n"
                     R"({"contents": "a"})")
            .empty());
}

TEST_CASE("an index of before is refused with what to do") {
  const Folder folder;
  folder.build(kPets);
  SQLite::Database(folder.index.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 1");
  CHECK_THROWS_WITH(SearchIndex(folder.index), Contains("version 1") && Contains("Build it again with `agon index`"));
}

TEST_CASE("documents of any script are found by their words") {
  const std::vector<std::string> documents = {
      "北京大学是中国著名的大学，位于北京市海淀区。",        // 0 Chinese
      "黑猫在屋顶上睡觉。",                                  // 1
      "東京都は日本の首都であり、多くの人が住んでいます。",  // 2 Japanese
      "コンピュータサイエンスを大学で学びました。",          // 3
      "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย",                 // 4 Thai
      "고양이가 학교에서 잠을 잡니다.",                      // 5 Korean
      "Ο Σωκράτης ήταν σοφός φιλόσοφος της Αθήνας.",         // 6 Greek
      "Đà Nẵng là một thành phố của Việt Nam.",              // 7 Vietnamese
      "كِتَابٌ عَنِ اللُّغَةِ العَرَبِيَّة",                               // 8 Arabic, with points
      "שָׁלוֹם עוֹלָם",                                           // 9 Hebrew, with points
      "Die Straße nach Köln ist lang.",                      // 10 German
      "İstanbul'da ışık ve çiçek",                           // 11 Turkish
      "Ｆｕｌｌ ｗｉｄｔｈ Ｔｅｘｔ １２３",                 // 12 full-width
      "Ёлка стоит в лесу",                                   // 13 Russian
      "हिन्दी भारत की भाषा है, लड़का सड़क पर",                   // 14 Hindi
      "GPT-4模型 uses Transformer架构",                      // 15 mixed
      "ｶﾀｶﾅ の文",                                           // 16 half-width
      "Cafe\u0301 cre\u0300me bru\u0302le\u0301e",           // 17 combining accents
      "Smørrebrød og Łódź, Encyclopædia",                    // 18
      "soft\u00ADhyphen and ze\u200Dro width",               // 19
      "٢٠٢٤ سنة",                                            // 20 Arabic digits
      "ភាសាខ្មែរ ជាភាសារបស់កម្ពុជា",                             // 21 Khmer
  };
  const Folder folder;
  std::string lines;
  for (std::size_t i = 0; i < documents.size(); ++i)
    lines += Json{{"id", std::to_string(i)}, {"title", ""}, {"text", documents[i]}}.dump() + "\n";
  folder.build(lines);
  SearchIndex index(folder.index);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"北京大学", "0"},
      {"北京", "0"},
      {"著名", "0"},
      {"海淀区", "0"},
      {"猫", "1"},
      {"屋顶", "1"},
      {"東京", "2"},
      {"日本の首都はどこですか", "2"},
      {"コンピューター", "3"},
      {"サイエンス", "3"},
      {"เมืองหลวง", "4"},
      {"กรุงเทพ", "4"},
      {"ประเทศไทย", "4"},
      {"고양이", "5"},
      {"학교", "5"},
      {"ΣΟΦΟΣ", "6"},
      {"σωκρατησ", "6"},
      {"αθηνας", "6"},
      {"da nang", "7"},
      {"thanh pho viet nam", "7"},
      {"كتاب", "8"},
      {"العربيه", "8"},
      {"שלום", "9"},
      {"STRASSE", "10"},
      {"koln", "10"},
      {"istanbul", "11"},
      {"ISIK", "11"},
      {"width", "12"},
      {"123", "12"},
      {"ｗｉｄｔｈ", "12"},
      {"елка", "13"},
      {"भाषा", "14"},
      {"हिंदी", "14"},
      {"लडका", "14"},
      {"स\u0921\u093Cक", "14"},
      {"模型", "15"},
      {"transformer 架构", "15"},
      {"カタカナ", "16"},
      {"CAFÉ", "17"},
      {"brulee", "17"},
      {"smorrebrod", "18"},
      {"lodz", "18"},
      {"encyclopaedia", "18"},
      {"softhyphen", "19"},
      {"zero", "19"},
      {"2024", "20"},
      {"កម្ពុជា", "21"},
  };
  for (const auto& [query, id] : cases) {
    CAPTURE(query, documents[std::stoul(id)]);
    const Ids ids = found(index, query);
    REQUIRE_FALSE(ids.empty());
    CHECK(ids.front() == id);
  }
  CHECK(found(index, "。、！？　…").empty());
  const SearchHit hit = index.search("屋顶", 1, 1).hits.at(0);
  CHECK(hit.text == documents[1]);
  CHECK(hit.snippet == documents[1]);
}

TEST_CASE("a long text without spaces is found in its middle, and its snippet is whole characters") {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += i == 11'000 ? "長頸鹿" : "天地玄黃宇宙洪荒";
  const Folder folder;
  folder.build(Json{{"id", "a"}, {"title", ""}, {"text", text}}.dump());
  SearchIndex index(folder.index);
  CHECK(found(index, "長頸鹿") == Ids{"a"});
  const SearchHit hit = index.search("宇宙", 1, 1).hits.at(0);
  CHECK(hit.snippet.size() < 2000);
  CHECK(valid_utf8(hit.snippet) == hit.snippet);
  CHECK_THAT(hit.snippet, Contains("宇宙"));
}

TEST_CASE("what cannot be built or opened is told") {
  const Folder folder;
  CHECK_THROWS_WITH(build_search_index(folder.folder / "no", folder.index), Contains("cannot be read"));
  CHECK_THAT(folder.failure("\x1F\x8B\x08"), Contains("gzip -dc"));
  CHECK_THAT(folder.failure(std::string("{\0\"\0", 4)), Contains("UTF-16"));
  CHECK(folder.failure("\xEF\xBB\xBF" + kPets).empty());
  folder.build(kPets);
  CHECK_THROWS_WITH(build_search_index(folder.corpus, folder.folder / "no" / "x"), Contains("cannot be written"));
  CHECK_THROWS_WITH(build_search_index(folder.corpus, folder.corpus), Contains("is the corpus itself"));
  CHECK_THROWS_WITH(build_search_index(folder.corpus, folder.folder.path()), Contains("not a regular file"));
  CHECK_THROWS_WITH(SearchIndex(folder.folder / "no"), Contains("agon index"));
  CHECK_THROWS_WITH(SearchIndex(folder.corpus), Contains("not a search index"));
  SQLite::Database((folder.folder / "other").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE t (x)");
  CHECK_THROWS_WITH(SearchIndex(folder.folder / "other"), Contains("not a search index"));
}

TEST_CASE("a damaged index throws or answers, and never crashes") {
  const Folder folder;
  folder.build(many_documents(300));
  const std::string whole = read_file(folder.index);
  Rng rng(2);
  for (int round = 0; round < 200; ++round) {
    std::string bytes = whole.substr(
        0, rng.chance(0.3) ? static_cast<std::size_t>(rng.between(0, static_cast<int>(whole.size()))) : whole.size());
    for (int i = 0; i < 30 && !bytes.empty(); ++i)
      bytes[static_cast<std::size_t>(rng.between(100, 1 << 30)) % bytes.size()] =
          static_cast<char>(rng.between(0, 255));
    std::ofstream(folder.index, std::ios::binary) << bytes;
    try {
      SearchIndex index(folder.index);
      for (const char* query : {"common things", "word3", "word16 all of"}) index.search(query, 5, 1);
    } catch (const Error&) {
    }
  }
}

TEST_CASE("an index that says another number of documents than it has is damaged") {
  const Folder folder;
  for (const char* documents : {"4611686018427387907", "4611686018427387904", "9223372036854775807",
                                "-4611686018427387901", "0", "-3", "1000", "4294967297"}) {
    CAPTURE(documents);
    folder.build(kPets);
    SQLite::Database(folder.index.string(), SQLite::OPEN_READWRITE)
        .exec(fmt::format("UPDATE corpus SET documents = {}", documents));
    CHECK_THROWS_WITH(SearchIndex(folder.index), Contains("the index is damaged"));
  }
}

TEST_CASE("threads search at once, and a replaced index is noticed") {
  const Folder folder;
  folder.build(many_documents(1000));
  SearchIndex index(folder.index);
  const auto expected = index.rank("word3 common", 5);
  std::vector<std::jthread> threads;
  std::atomic<int> same = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) same += index.rank("word3 common", 5) == expected;
    });
  threads.clear();
  CHECK(same == 200);
  SearchIndex alone(folder.index);
  folder.build(many_documents(10));
  CHECK(alone.rank("word3 common", 5) == expected);  // its file is still open
}

TEST_CASE("a snippet is the part that fits") {
  SQLite::Database database(":memory:");
  WordTokenizer tokenizer(database.getHandle());
  std::string text;
  for (int i = 0; i < 200; ++i) text += i == 120 ? "golden fleeces, " : i == 122 ? "Argonauts " : "filler ";
  const std::map<std::string, double, std::less<>> weights = {{"fleec", 3}, {"argonaut", 2}, {"filler", 0.1}};
  const std::string snippet = snippet_of(tokenizer, text, weights, 10);
  CHECK_THAT(snippet, Contains("golden fleeces, filler Argonauts"));
  CHECK(snippet.starts_with("..."));
  CHECK(snippet.ends_with("..."));
  CHECK(snippet_of(tokenizer, "short text", weights, 10) == "short text");
  CHECK(snippet_of(tokenizer, "a b c d", {}, 2) == "a b...");
  CHECK(snippet_of(tokenizer, "", weights, 10).empty());
  CHECK(snippet_of(tokenizer, std::string(1 << 20, '!'), weights, 10).size() < 400);
}
