#include "agents/learn/network/sentence_encoder.h"

#include <filesystem>
#include <numeric>

#include "agents/hub/tokenizer/word_pieces.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "core/text.h"
#include "paths.h"
#include "temp_folder.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;
using agon::test::TempFolder;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const fs::path kEncoder = agon::test::golden_path("sentence_encoder");

Json expected() { return Json::parse(read_file((kEncoder / "expected.json").string())); }

fs::path copy_of_model(const TempFolder& folder) {
  const fs::path copy = folder.path() / "model";
  fs::copy(kEncoder, copy);
  return copy;
}

void change(const fs::path& path, const std::string& key, const Json& value) {
  Json json = Json::parse(read_file(path.string()));
  json[key] = value;
  write_file_atomically(path.string(), json.dump());
}

}  // namespace

TEST_CASE("word pieces are those of transformers") {
  const WordPieces pieces(kEncoder / "vocab.txt");
  const Json golden = expected();
  for (const Json& text : golden["cases"]) {
    INFO(text["text"]);
    CHECK(pieces.encode(text["text"].get<std::string>(), 32) == text["ids"].get<std::vector<std::int64_t>>());
  }
}

TEST_CASE("word pieces of text that is no UTF-8, and at most so many") {
  const WordPieces pieces(kEncoder / "vocab.txt");
  CHECK(pieces.encode("the \xFF\xC3 red", 32) == pieces.encode("the red", 32));
  CHECK(pieces.encode("the red bar", 3).size() == 3);
  CHECK(pieces.encode(std::string(100'000, 'a'), 8).size() == 3);  // one unknown word
}

TEST_CASE("sentence vectors are the mean of the last layer as transformers has it") {
  const auto encoder = SentenceEncoder::load(kEncoder);
  const Json golden = expected();
  for (const Json& text : golden["cases"]) {
    INFO(text["text"]);
    const std::vector<float> vector = encoder->embed(text["text"].get<std::string>());
    const auto wanted = text["vector"].get<std::vector<float>>();
    REQUIRE(vector.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(vector[i] == Approx(wanted[i]).margin(2e-6));
    CHECK(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0) == Approx(1).margin(1e-5));
  }
}

TEST_CASE("sentence similarity is a cosine and says who measured") {
  const auto similarity = make_sentence_similarity(kEncoder);
  CHECK(similarity->similarity("the red bar", "The red bar") == Approx(1));
  CHECK(similarity->similarity("the red bar", "what is 北京") < 0.99);
  CHECK(similarity->name() == "sentence encoder sentence_encoder");
}

TEST_CASE("the real MiniLM finds texts as alike as transformers does") {
  const fs::path folder = agon::test::source_path(".deps/minilm");
  if (!fs::exists(folder)) {
    WARN("not run: script/checkpoint minilm has not fetched .deps/minilm");
    return;
  }
  const auto similarity = make_sentence_similarity(folder);
  const Json golden = Json::parse(read_file((kEncoder / "minilm.json").string()));
  for (const Json& pair : golden["pairs"]) {
    INFO(pair["a"] << " | " << pair["b"]);
    CHECK(similarity->similarity(pair["a"].get<std::string>(), pair["b"].get<std::string>()) ==
          Approx(pair["cosine"].get<double>()).margin(5e-6));
  }
}

TEST_CASE("a folder that holds no sentence encoder is refused with what is wrong") {
  const TempFolder folder;
  CHECK_THROWS_WITH(SentenceEncoder::load(folder.path() / "none"),
                    Contains("no such folder") && Contains("script/checkpoint minilm"));
  const fs::path copy = copy_of_model(folder);
  SECTION("another architecture") {
    change(copy / "config.json", "hidden_act", "relu");
    CHECK_THROWS_WITH(SentenceEncoder::load(copy), Contains("hidden_act relu"));
  }
  SECTION("a config of another size") {
    change(copy / "config.json", "intermediate_size", 41);
    CHECK_THROWS_WITH(SentenceEncoder::load(copy),
                      Contains("intermediate.dense.weight is F32 [40, 24]") && Contains("[41, 24]"));
  }
  SECTION("a layer too many") {
    change(copy / "config.json", "num_hidden_layers", 3);
    CHECK_THROWS_WITH(SentenceEncoder::load(copy), Contains("no tensor encoder.layer.2"));
  }
  SECTION("a vocabulary without its special pieces") {
    write_file_atomically((copy / "vocab.txt").string(), "a\nb\n");
    CHECK_THROWS_WITH(SentenceEncoder::load(copy), Contains("no [UNK] among its 2 pieces"));
  }
  SECTION("a size that is not a positive number") {
    for (const char* key : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                            "intermediate_size", "max_position_embeddings"})
      for (const char* number : {"0", "-1", "1e30", "2.5", "18446744073709551615", "4611686018427387904", "\"8\""}) {
        CAPTURE(key, number);
        const std::string before = read_file((copy / "config.json").string());
        change(copy / "config.json", key, Json::parse(number));
        CHECK_THROWS_WITH(SentenceEncoder::load(copy), Contains(key) && Contains("not a whole number from"));
        write_file_atomically((copy / "config.json").string(), before);
      }
    for (const char* number : {"0", "-5", "1e30", "18446744073709551615", "null"}) {
      CAPTURE(number);
      change(copy / "sentence_bert_config.json", "max_seq_length", Json::parse(number));
      CHECK_THROWS_WITH(SentenceEncoder::load(copy), Contains("max_seq_length is") && Contains("not a whole number"));
    }
    write_file_atomically((copy / "sentence_bert_config.json").string(), "[]");
    CHECK_THROWS_WITH(SentenceEncoder::load(copy), Contains("sentence_bert_config.json: not a JSON object"));
  }
  SECTION("a config that is no JSON") {
    write_file_atomically((copy / "config.json").string(), "{");
    CHECK_THROWS_WITH(SentenceEncoder::load(copy), Contains("not JSON"));
  }
}
