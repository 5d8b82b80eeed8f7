#include "agents/hub/tokenizer/sentencepiece_tokenizer.h"

#include <catch2/catch.hpp>
#include <limits>

#include "agents/hub/gguf/file.h"
#include "agents/hub/gguf/tokenizer.h"
#include "agents/hub/gguf/writer.h"
#include "agents/hub/tokenizer/score_merges.h"
#include "agents/hub/tokenizer/tokenizer.h"
#include "core/error.h"
#include "core/json.h"
#include "core/rng.h"
#include "core/text.h"
#include "mutated_tokenizer.h"
#include "paths.h"
#include "temp_folder.h"

namespace agon::agents {
namespace {

using Catch::Matchers::Contains;
using Ids = std::vector<std::int32_t>;

const std::string kSentencepiece = agon::test::golden_path("sentencepiece/");

std::string golden_file(const std::string& name) { return read_file(kSentencepiece + name + ".json"); }

std::unique_ptr<Tokenizer> golden(const std::string& name) { return Tokenizer::parse(golden_file(name), name); }

std::vector<Json> sentencepiece_corpus() {  // without its first line, the versions
  std::vector<Json> rows;
  for (const std::string& line : split(read_file(kSentencepiece + "corpus.jsonl"), "\n"))
    if (const Json row = line.empty() ? Json() : Json::parse(line); row.contains("text")) rows.push_back(row);
  return rows;
}

void require_golden_ids(const Tokenizer& tokenizer, const std::string& name) {
  const std::vector<Json> rows = sentencepiece_corpus();
  REQUIRE(rows.size() == 160);
  for (const Json& row : rows) {
    CAPTURE(name, row["text"].dump());
    const auto text = row["text"].get<std::string>();
    REQUIRE(tokenizer.encode(text, true) == row[name].get<Ids>());
    REQUIRE(tokenizer.encode(text, false) == row.value(name + " withheld", row[name]).get<Ids>());
    REQUIRE(tokenizer.decode(row[name].get<Ids>()) == row.value(name + " decoded", text));
  }
}

template <typename PieceChange>
std::string with_change(const std::string& name, PieceChange change) {
  Json file = Json::parse(golden_file(name));
  change(file);
  return file.dump();
}

template <typename PieceChange>
void require_pieces_refused(const std::string& name, PieceChange change, const std::string& message) {
  REQUIRE_THROWS_WITH(Tokenizer::parse(with_change(name, change), "x.json"), Contains("x.json") && Contains(message));
}

std::string byte_name(int byte) { return fmt::format("<0x{:02X}>", byte); }

// A model with spaces, "a" and "b", and with scores in place of merges.
struct ScoredModel {
  std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
  std::vector<float> scores{0, 0, 0};
  std::vector<std::int32_t> types{2, 3, 3};
  std::vector<GgufKey> more;

  ScoredModel() {
    for (int byte = 0; byte < 256; ++byte) add(byte_name(byte), 0, 6);
    add("ab", -1);
    add("\u2581a", -2);
    for (const char* symbol : {"\u2581", "a", "b"}) add(symbol, -1000);
  }
  std::int32_t add(const std::string& token, float score, std::int32_t type = 1) {
    tokens.push_back(token);
    scores.push_back(score);
    types.push_back(type);
    return static_cast<std::int32_t>(tokens.size()) - 1;
  }
  std::unique_ptr<Tokenizer> read() const {
    const agon::test::TempFolder folder;
    std::vector<GgufKey> keys{{"tokenizer.ggml.model", std::string("llama")},
                              {"tokenizer.ggml.tokens", tokens},
                              {"tokenizer.ggml.scores", scores},
                              {"tokenizer.ggml.token_type", types}};
    keys.insert(keys.end(), more.begin(), more.end());
    write_gguf(folder / "x.gguf", keys, {});
    return open_gguf_tokenizer(GgufFile::open(folder / "x.gguf"), "x.gguf");
  }
};

}  // namespace

TEST_CASE("ids and texts of SentencePiece's BPE equal those of the tokenizers library") {
  const std::string name =
      GENERATE("legacy", "replace", "first", "always", "never", "fused", "unfused", "nameless", "scored");
  require_golden_ids(*golden(name), name);
}

TEST_CASE("a GGUF file with scores gives the merges that transformers makes of them, and the same ids") {
  const auto tokenizer = open_gguf_tokenizer(GgufFile::open(kSentencepiece + "scored.gguf"), "scored.gguf");
  const std::string text = tokenizer->json();
  Json wanted = Json::parse(golden_file("scored"))["model"]["merges"];
  for (Json& merge : wanted) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  CHECK(Json::parse(text)["model"]["merges"] == wanted);
  require_golden_ids(*tokenizer, "scored");
  require_golden_ids(*Tokenizer::parse(text, "scored.gguf"), "scored");
}

TEST_CASE("a GGUF file with a token of an unknown type is refused with its name") {
  ScoredModel model;
  model.types[5] = 9;
  CHECK_THROWS_WITH(model.read(), Catch::Contains("x.gguf: the key tokenizer.ggml.token_type: token 5 has the type 9"));
}

TEST_CASE("merges of scores: by falling score, then the longer left part, and none with an unknown part") {
  const std::vector<ScoredToken> tokens{{"a", -9}, {"b", -9}, {"ab", -2}, {"ba", -3}, {"aba", -1}, {"axb", 0}, {"", 0}};
  using Merges = std::vector<std::pair<std::string, std::string>>;
  CHECK(merges_of_scores(tokens) == Merges{{"ab", "a"}, {"a", "ba"}, {"a", "b"}, {"b", "a"}});
}

TEST_CASE("a blank stands before a text at the start or after a token, as the form says, and none within") {
  const auto encode = [](const std::string& name, TextPlace place) {
    const auto tokenizer = golden(name);
    return tokenizer->decode(tokenizer->encode("the", true, place), true, TextPlace::within);
  };
  for (const char* name : {"legacy", "always"}) {
    CHECK(encode(name, TextPlace::start) == " the");
    CHECK(encode(name, TextPlace::after_token) == " the");
  }
  CHECK(encode("first", TextPlace::start) == " the");
  CHECK(encode("first", TextPlace::after_token) == "the");
  CHECK(encode("never", TextPlace::start) == "the");
  for (const char* name : {"legacy", "always", "first", "never"}) CHECK(encode(name, TextPlace::within) == "the");
}

TEST_CASE("a text encoded within another is the bytes of its tokens") {
  for (const char* name : {"legacy", "first", "always", "never"}) {
    const auto tokenizer = golden(name);
    for (const Json& row : sentencepiece_corpus()) {
      const auto text = row["text"].get<std::string>();
      const auto holds = [&](std::string_view part) { return text.find(part) != std::string::npos; };
      if (holds("\u2581") || holds("<") || holds("red") || holds("two words")) continue;  // a mark, or an added token
      const auto ids = tokenizer->encode(text, true, TextPlace::within);
      CAPTURE(name, row["text"].dump());
      REQUIRE(tokenizer->decode(ids, true, TextPlace::within) == text);
    }
  }
}

TEST_CASE("bytes that are no UTF-8 are tokens of bytes") {
  const auto tokenizer = golden("legacy");
  agon::Rng rng(5);
  for (int i = 0; i < 300; ++i) {
    std::string bytes;
    for (int n = rng.between(0, 30); n > 0; --n) bytes += static_cast<char>(rng.between(128, 255));
    REQUIRE(tokenizer->decode(tokenizer->encode(bytes)) == replace_all(bytes, "\u2581", " "));
  }
}

TEST_CASE("what tokens of SentencePiece's BPE write: marks are blanks, bytes are bytes, special tokens their names") {
  const auto tokenizer = golden("legacy");
  CHECK(tokenizer->token_bytes(1) == "<s>");
  CHECK(tokenizer->token_bytes(3 + 0xE4) == "\xE4");
  CHECK(tokenizer->token_bytes(3 + ' ') == " ");
  const Ids ids = tokenizer->encode("the the");
  CHECK(tokenizer->token_bytes(ids.front()).front() == ' ');
  CHECK(tokenizer->token_bytes(ids.back()).find("\u2581") == std::string::npos);
  CHECK(tokenizer->decode(ids) == "the the");
  CHECK(tokenizer->decode(ids, true, TextPlace::within) == " the the");
  CHECK(tokenizer->token_bytes(*tokenizer->id_of("\u2581\u2581\u2581\u2581")) == "    ");
  CHECK(tokenizer->is_special(*tokenizer->id_of("<|end|>")));
  CHECK_FALSE(tokenizer->is_special(*tokenizer->id_of("<left>")));
  CHECK(tokenizer->json() == golden_file("legacy"));
  const auto literal = Tokenizer::parse(with_change("legacy", [](Json& file) { file["decoder"]["decoders"].erase(1); }),
                                        "without ByteFallback");
  CHECK(literal->token_bytes(3 + 'A') == "<0x41>");
}

TEST_CASE("text never merges to a special token, even where the file has the merges for it") {
  const auto tokenizer =
      Tokenizer::parse(with_change("legacy",
                                   [](Json& file) {
                                     Json& model = file["model"];
                                     const int next = golden("legacy")->vocab_size();
                                     model["vocab"]["<s"] = next;
                                     model["merges"].insert(model["merges"].begin(), {{"<", "s"}, {"<s", ">"}});
                                   }),
                       "x.json");
  const Ids ids = tokenizer->encode("<s>", false);
  CHECK(std::count(ids.begin(), ids.end(), 1) == 0);
  CHECK(tokenizer->decode(ids) == "<s>");
  CHECK(tokenizer->encode("<s>", true) == Ids{1});
}

TEST_CASE("a long text takes no quadratic time where nothing splits it", "[long]") {  // 1 MB each: else hours
  for (const char* name : {"legacy", "replace"}) {
    const auto tokenizer = golden(name);
    CHECK(tokenizer->encode(std::string(1'000'000, 'a')).size() < 1'000'000);
    CHECK(tokenizer->encode(std::string(1'000'000, ' ')).size() < 1'000'000);
    std::string words;
    while (words.size() < 1'000'000) words += "the blue bar is \u4e16 ";
    const bool same = tokenizer->decode(tokenizer->encode(words)) == words;  // so that a failure prints no 2 MB
    CHECK(same);
  }
}

TEST_CASE("a GGUF file with scores: texts merge by score, bytes are fallen back on") {
  ScoredModel model;
  const std::int32_t blank = 3 + 256 + 2, a = blank + 1, b = blank + 2, ab = blank - 2, marked_a = blank - 1;
  CHECK(model.read()->encode("aab ba") == Ids{marked_a, ab, blank, b, a});
  CHECK(model.read()->encode("a\u00e9") == Ids{marked_a, 3 + 0xC3, 3 + 0xA9});
  CHECK(model.read()->decode(Ids{1, marked_a, ab}) == "aab");
  model.more = {{"tokenizer.ggml.add_space_prefix", false}};
  CHECK(model.read()->encode("aab") == Ids{a, ab});
  CHECK(model.read()->decode(Ids{marked_a}) == " a");
  const std::int32_t own = model.add("[own]", -1000, 4), unused = model.add("[unused]", 0, 5);
  const std::int32_t control = model.add("ba", 0, 3);
  CHECK(model.read()->encode("a[own]", false) == Ids{a, own});
  CHECK(model.read()->encode("ba", false) == Ids{b, a});
  CHECK(model.read()->encode("ba", true) == Ids{control});
  CHECK(model.read()->is_special(unused));
}

TEST_CASE("a GGUF file with broken scores or without a token for a byte is refused with its name") {
  const auto require_fault = [](const auto& change, const std::string& message) {
    ScoredModel model;
    change(model);
    REQUIRE_THROWS_WITH(model.read(), Contains("x.gguf") && Contains(message));
  };
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    require_fault([&](ScoredModel& model) { model.scores[3 + 256] = bad; },
                  "the score of token 259, \"ab\", is not a finite");
  require_fault([](ScoredModel& model) { model.scores.pop_back(); }, "263 scores for 264 tokens");
  require_fault([](ScoredModel& model) { model.types.pop_back(); }, "263 types for 264 tokens");
  require_fault([](ScoredModel& model) { model.tokens[3 + 0xE4] = "[gone]"; }, "'<0xE4>' is not in model.vocab");
  require_fault([](ScoredModel& model) { model.add(std::string(5000, 'a'), 0); }, "token 264 has 5000 bytes");
  require_fault([](ScoredModel& model) { model.add("ab", 0); }, "without a hole");
}

TEST_CASE("a broken tokenizer.json of SentencePiece's BPE is refused with its name and what is wrong") {
  require_pieces_refused(
      "legacy", [](Json& file) { file["model"]["type"] = "Unigram"; }, "expected the type BPE");
  require_pieces_refused(
      "legacy", [](Json& file) { file["model"]["ignore_merges"] = true; }, "ignore_merges");
  require_pieces_refused(
      "legacy",
      [](Json& file) {
        file["model"]["merges"].push_back({"zq", "e"});
      },
      "'zq' is not in");
  require_pieces_refused(
      "legacy",
      [](Json& file) {
        file["model"]["merges"].push_back({"e", "1"});
      },
      "'e1' is not in");
  require_pieces_refused(
      "legacy", [](Json& file) { file["model"]["vocab"].erase("<0xE4>"); }, "without a hole");
  require_pieces_refused(
      "legacy",
      [](Json& file) {
        Json& vocabulary = file["model"]["vocab"];
        vocabulary["[other]"] = vocabulary.at("<0xE4>");
        vocabulary.erase("<0xE4>");
      },
      "'<0xE4>' is not in model.vocab");
  require_pieces_refused(
      "legacy", [](Json& file) { file["model"]["vocab"]["e"] = 1; }, "same id");
  require_pieces_refused(
      "legacy", [](Json& file) { file["model"]["vocab"]["<s>"] = 2; }, "has the id 1 in added_tokens and 2");
  require_pieces_refused(
      "fused", [](Json& file) { file["model"]["unk_token"] = "[none]"; }, "'model.unk_token' is \"[none]\"");
  require_pieces_refused(
      "legacy", [](Json& file) { file["normalizer"] = nullptr; }, "marks blanks");
  require_pieces_refused(
      "legacy", [](Json& file) { file["normalizer"]["normalizers"][0]["prepend"] = "_"; }, "'normalizer' is");
  require_pieces_refused(
      "legacy",
      [](Json& file) {
        file["normalizer"]["normalizers"].push_back({{"type", "NFC"}});
      },
      "'normalizer' is");
  require_pieces_refused(
      "first",
      [](Json& file) {
        file["normalizer"] = {{"type", "NFC"}};
      },
      "expected null before Metaspace");
  require_pieces_refused(
      "first", [](Json& file) { file["pre_tokenizer"]["split"] = true; }, "\"split\": false");
  require_pieces_refused(
      "first", [](Json& file) { file["pre_tokenizer"].erase("split"); }, "\"split\": false");
  require_pieces_refused(
      "first", [](Json& file) { file["pre_tokenizer"]["replacement"] = "_"; }, "\"replacement\"");
  require_pieces_refused(
      "first", [](Json& file) { file["pre_tokenizer"]["prepend_scheme"] = "last"; }, "prepend_scheme");
  require_pieces_refused(
      "first", [](Json& file) { file["decoder"] = nullptr; }, "'decoder' is null");
  require_pieces_refused(
      "first",
      [](Json& file) {
        file["decoder"] = {{"type", "Metaspace"}};
      },
      "'decoder' is");
  require_pieces_refused(
      "first", [](Json& file) { file["decoder"]["decoders"].erase(0); }, "'decoder' is");
  require_pieces_refused(
      "first", [](Json& file) { file["decoder"]["decoders"].erase(2); }, "'decoder' is");
  require_pieces_refused(
      "first", [](Json& file) { file["decoder"]["decoders"][3]["content"] = "x"; }, "'decoder' is");
  require_pieces_refused(
      "first", [](Json& file) { file["decoder"]["decoders"][3]["start"] = -1; }, "'decoder' is");
  require_pieces_refused(
      "first",
      [](Json& file) {
        file["post_processor"] = {{"type", "BertProcessing"}};
      },
      "post_processor");
}

TEST_CASE("a mutated tokenizer.json of SentencePiece's BPE is refused or read, never more") {
  REQUIRE(agon::test::count_refused(golden_file("first"), "the red bar <left> \u00e9\u4e16") > 50);
}

}  // namespace agon::agents
