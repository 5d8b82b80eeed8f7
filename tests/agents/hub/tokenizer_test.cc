#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/hub/tokenizer/tokenizer_learner.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "core/json.h"
#include "core/rng.h"
#include "core/text.h"
#include "mutated_tokenizer.h"
#include "paths.h"

using agon::Json;
using agon::agents::learn_tokenizer;
using agon::agents::Tokenizer;
using Ids = std::vector<std::int32_t>;
using Catch::Matchers::Contains;

namespace {

const std::string kFolder = agon::test::golden_path("tokenizer/");

std::vector<Json> corpus() {  // the first line has versions and the training corpus
  std::vector<Json> rows;
  for (const std::string& line : agon::split(agon::read_file(kFolder + "corpus.jsonl"), "\n"))
    if (!line.empty()) rows.push_back(Json::parse(line));
  return rows;
}

std::string golden_file() { return agon::read_file(kFolder + "tokenizer.json"); }

// The golden file with one thing changed.
template <typename Change>
std::string changed(Change change) {
  Json file = Json::parse(golden_file());
  change(file);
  return file.dump();
}

template <typename Change>
void require_refused(Change change, const std::string& message) {
  REQUIRE_THROWS_WITH(Tokenizer::parse(changed(change), "x.json"), Contains("x.json") && Contains(message));
}

void require_same_ids(const Tokenizer& tokenizer, const char* key, bool with_special) {
  const auto rows = corpus();
  REQUIRE(rows.size() > 500);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto text = rows[i]["text"].get<std::string>();
    INFO(rows[i].dump());
    REQUIRE(tokenizer.encode(text, with_special) == rows[i].value(key, rows[i]["ids"]).get<Ids>());
  }
}

}  // namespace

TEST_CASE("ids equal those of the tokenizers library on a fuzz corpus") {
  require_same_ids(*Tokenizer::parse(golden_file(), "golden"), "ids", true);
}

TEST_CASE("ids equal those of the tokenizers library for the families of GPT-2, SmolLM2, Llama 3 and Qwen3") {
  const std::string folder = agon::test::golden_path("tokenizer_families/");
  const std::string name = GENERATE("gpt2", "smollm2", "llama3", "qwen3");
  const auto tokenizer = Tokenizer::parse(agon::read_file(folder + name + ".json"), name);
  std::size_t rows = 0;
  for (const std::string& line : agon::split(agon::read_file(folder + "corpus.jsonl"), "\n")) {
    const Json row = line.empty() ? Json() : Json::parse(line);
    if (!row.contains("text")) continue;
    CAPTURE(name, row["text"].dump());
    const auto text = row["text"].get<std::string>();
    REQUIRE(tokenizer->encode(text, true) == row[name].get<Ids>());
    REQUIRE(tokenizer->encode(text, false) == row.value(name + " withheld", row[name]).get<Ids>());
    ++rows;
  }
  REQUIRE(rows == 500);
}

TEST_CASE("special tokens in text stay text when withheld, tags do not") {
  require_same_ids(*Tokenizer::parse(golden_file(), "golden"), "withheld", false);
}

TEST_CASE("added tokens marked normalized are searched after NFC") {
  const auto file = changed([](Json& json) {
    for (Json& token : json["added_tokens"]) token["normalized"] = true;
  });
  require_same_ids(*Tokenizer::parse(file, "golden"), "normalized", true);
}

TEST_CASE("merges may be written as one string") {
  const auto file = changed([](Json& json) {
    for (Json& merge : json["model"]["merges"]) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  });
  require_same_ids(*Tokenizer::parse(file, "golden"), "ids", true);
}

TEST_CASE("decode gives the bytes back") {
  const auto tokenizer = Tokenizer::parse(golden_file(), "golden");
  agon::Rng rng(3);
  for (int i = 0; i < 300; ++i) {
    std::string bytes;  // no byte from 0xcc on, so NFC changes nothing; mostly invalid UTF-8
    for (int n = rng.between(0, 30); n > 0; --n) bytes += static_cast<char>(rng.between(0, 0xcb));
    REQUIRE(tokenizer->decode(tokenizer->encode(bytes)) == bytes);
  }
  REQUIRE(tokenizer->decode(tokenizer->encode("\xff\xfe e\u0301 \xe4\xbd")) == "\xff\xfe \u00e9 \xe4\xbd");
}

TEST_CASE("special tokens are left out of decoded text unless asked for") {
  const auto tokenizer = Tokenizer::parse(golden_file(), "golden");
  const auto ids = tokenizer->encode("a<|im_end|><answer>");
  REQUIRE(tokenizer->decode(ids) == "a<answer>");
  REQUIRE(tokenizer->decode(ids, false) == "a<|im_end|><answer>");
  REQUIRE(tokenizer->decode(Ids{-1, 1 << 30, 'a'}) == "a");
}

TEST_CASE("ids, names and bytes of tokens") {
  const auto tokenizer = Tokenizer::parse(golden_file(), "golden");
  const auto end = tokenizer->id_of("<|im_end|>");
  REQUIRE(end);
  REQUIRE(tokenizer->is_special(*end));
  REQUIRE(tokenizer->token_bytes(*end) == "<|im_end|>");
  REQUIRE_FALSE(tokenizer->is_special(*tokenizer->id_of("<answer>")));
  REQUIRE_FALSE(tokenizer->id_of("the"));
  REQUIRE(tokenizer->token_bytes(0) == std::string(1, '\0'));
  REQUIRE(tokenizer->token_bytes(tokenizer->vocab_size()).empty());
  REQUIRE_FALSE(tokenizer->is_special(-1));
  REQUIRE(tokenizer->json() == golden_file());
}

TEST_CASE("a long word takes no quadratic time", "[long]") {  // 2 MB: quadratic time would take hours
  const auto tokenizer = Tokenizer::parse(golden_file(), "golden");
  REQUIRE(tokenizer->encode(std::string(1'000'000, 'a')).size() < 1'000'000);
  std::string marks;
  for (int i = 0; i < 200'000; ++i) marks += "\u0301\u0323";
  REQUIRE(tokenizer->decode(tokenizer->encode(marks)).size() == marks.size());
  REQUIRE(tokenizer->encode(std::string(1'000'000, ' ') + "a").size() > 2);
}

TEST_CASE("learn_tokenizer gives the tokenizer that its contract describes") {
  const Json about = corpus()[0];
  const auto texts = about["learned_from"].get<std::vector<std::string>>();
  const auto special = about["special"].get<std::vector<std::string>>();
  const auto tags = about["tags"].get<std::vector<std::string>>();
  const auto learned = learn_tokenizer(texts, about["vocab_size"], special, tags);
  REQUIRE(Json::parse(learned) == Json::parse(golden_file()));
}

TEST_CASE("learn_tokenizer stops when no pair occurs twice") {
  const auto learned = Tokenizer::parse(learn_tokenizer(std::vector<std::string>{"abab"}, 1000, {}, {}), "learned");
  REQUIRE(learned->vocab_size() == 257);  // "ab"; the whole word occurs once
  REQUIRE(learned->encode("abab") == Ids{256, 256});
  REQUIRE_THROWS_AS(learn_tokenizer({}, 255, {}, {}), agon::Error);
}

TEST_CASE("a byte without a token is left out, as by tokenizers") {
  const auto tokenizer = Tokenizer::parse(changed([](Json& json) {
                                            Json& vocabulary = json["model"]["vocab"];
                                            vocabulary["zzzz"] = vocabulary.at("\u0104");  // the letter of byte 4
                                            vocabulary.erase("\u0104");
                                          }),
                                          "x.json");
  CHECK(tokenizer->encode("\x04").empty());
  CHECK(tokenizer->decode(tokenizer->encode("a\x04z")) == "az");
}

TEST_CASE("a broken tokenizer.json is refused with its name and what is wrong") {
  REQUIRE_THROWS_WITH(Tokenizer::parse("{\"model\":", "x.json"), Contains("x.json") && Contains("parse error"));
  REQUIRE_THROWS_WITH(Tokenizer::parse("[]", "x.json"), Contains("not a JSON object"));
  require_refused([](Json& json) { json.erase("model"); }, "'model' is missing");
  require_refused([](Json& json) { json["model"]["type"] = "Unigram"; }, "expected the type BPE");
  require_refused([](Json& json) { json["model"]["byte_fallback"] = true; }, "byte_fallback");
  require_refused([](Json& json) { json["model"].erase("merges"); }, "'model.merges' is missing");
  require_refused([](Json& json) { json["model"]["merges"].push_back({"zq", "e"}); }, "'zq' is not in model.vocab");
  require_refused([](Json& json) { json["model"]["merges"].push_back("a b c"); }, "neither");
  require_refused([](Json& json) { json["model"]["vocab"]["zzz"] = 100'000; }, "without a hole");
  require_refused([](Json& json) { json["model"]["vocab"]["zzz"] = 1ll << 40; }, "not a non-negative integer");
  require_refused([](Json& json) { json["model"]["vocab"]["zzz"] = 5; }, "the same id 5");
  require_refused([](Json& json) { json["model"]["vocab"]["\u4f60"] = 434; }, "not written in the byte map");
  require_refused([](Json& json) { json["model"]["vocab"].erase("a"); }, "the byte 'a' has no token");
  require_refused([](Json& json) { json["normalizer"] = {{"type", "NFKC"}}; }, "expected NFC");
  require_refused([](Json& json) { json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "\\w+"; },
                  "none of the");
  require_refused([](Json& json) { json["pre_tokenizer"]["pretokenizers"][1]["use_regex"] = true; }, "none of the");
  require_refused(
      [](Json& json) {
        json["pre_tokenizer"] = {{"type", "ByteLevel"}};
      },
      "none of the");  // with a space in front
  require_refused([](Json& json) { json["post_processor"]["type"] = "BertProcessing"; }, "expected ByteLevel");
  require_refused([](Json& json) { json["decoder"] = {{"type", "WordPiece"}}; }, "expected ByteLevel");
  require_refused([](Json& json) { json["added_tokens"][0]["content"] = ""; }, "content");
}

TEST_CASE("an added token whose text is a word of the vocabulary has an id of its own") {
  const Json file = Json::parse(golden_file());
  const auto next = file["added_tokens"].back()["id"].get<int>() + 1;
  const auto with = [&](std::int64_t id) {
    return changed([&](Json& json) {
      Json added = json["added_tokens"].back();
      added["id"] = id;
      added["content"] = " ";
      added["special"] = false;
      json["added_tokens"].push_back(added);
    });
  };
  const auto tokenizer = Tokenizer::parse(with(next), "x.json");
  CHECK(tokenizer->vocab_size() == next + 1);
  CHECK(tokenizer->decode(tokenizer->encode("a b")) == "a b");
  REQUIRE_THROWS_WITH(Tokenizer::parse(with(2'000'000'000), "x.json"), Contains("without a hole"));
  REQUIRE_THROWS_WITH(Tokenizer::parse(with(5), "x.json"), Contains("the same id 5"));
}

TEST_CASE("of a list that a tokenizer.json has twice the last one counts, wherever it stands") {
  const std::string file = golden_file();
  const Json json = Json::parse(file);
  const std::string model = json["model"].dump(), other = R"({"type": "BPE", "vocab": {"q": 0}, "merges": ["q q"]})";
  std::string twice = "{\"model\": " + other;
  for (const auto& [key, value] : json.items()) twice += ", \"" + key + "\": " + value.dump();
  require_same_ids(*Tokenizer::parse(twice + "}", "twice"), "ids", true);
  Json within = json;
  within["more"] = {{"model", {{"vocab", {{"q", 0}}}, {"merges", {"q q"}}}}};
  require_same_ids(*Tokenizer::parse(within.dump(), "within"), "ids", true);
}

TEST_CASE("a tokenizer.json nested deep, or with a million objects, is refused or read in time") {
  REQUIRE_THROWS_WITH(Tokenizer::parse(std::string(100'000, '['), "x.json"), Contains("nested more than 32 deep"));
  std::string objects = "{\"added_tokens\": [{}";
  for (int i = 0; i < 1'000'000; ++i) objects += ",{}";
  REQUIRE_THROWS_AS(Tokenizer::parse(objects + "]}", "x.json"), agon::Error);
}

TEST_CASE("a mutated tokenizer.json is refused or read, never more") {
  REQUIRE(agon::test::count_refused(golden_file(), "the red bar <answer> \u00e9") > 50);
}
