#include "agents/hub/gguf/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "agents/hub/model_folder.h"
#include "agents/hub/tokenizer/pretokenize.h"
#include "agents/hub/tokenizer/score_merges.h"
#include "agents/hub/tokenizer/tokenizer_file.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::agents {
namespace {

// The keys of tokens that end a turn. Qwen's <|endoftext|> counts in addition to its end of turn; Llama 3 has three.
constexpr const char* kEndKeys[] = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                                    "tokenizer.ggml.eom_token_id"};

enum class TokenType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct GgufToken {
  std::string_view text;
  TokenType type;
};

// All tokens except those of type "unused" at the end.
std::vector<GgufToken> used_tokens(const GgufKeyReader& keys) {
  const std::vector<std::string_view> texts = keys.texts("tokenizer.ggml.tokens");
  const Json types = keys.list("tokenizer.ggml.token_type");
  if (types.size() != texts.size())
    keys.fail("tokenizer.ggml.token_type", fmt::format("{} types for {} tokens", types.size(), texts.size()));
  std::vector<GgufToken> tokens;
  for (std::size_t id = 0; id < texts.size(); ++id) {
    const Json& type = types[id];
    if (!type.is_number_integer() || type < 1 || type > 6)
      keys.fail("tokenizer.ggml.token_type", fmt::format("token {} has the type {}, not 1 to 6", id, to_text(type)));
    tokens.push_back({texts[id], static_cast<TokenType>(type.get<int>())});
  }
  while (!tokens.empty() && tokens.back().type == TokenType::unused) tokens.pop_back();
  return tokens;
}

nlohmann::json added_token(std::size_t id, const GgufToken& token) {
  return {{"id", id},
          {"content", token.text},
          {"special", token.type != TokenType::user_defined},
          {"normalized", false},
          {"single_word", false},
          {"lstrip", false},
          {"rstrip", false}};
}

// The scores of the tokens that merges may produce.
std::vector<ScoredToken> scored_tokens(const GgufKeyReader& keys, const std::vector<GgufToken>& tokens) {
  const Json scores = keys.list("tokenizer.ggml.scores");
  if (scores.size() < tokens.size())
    keys.fail("tokenizer.ggml.scores", fmt::format("{} scores for {} tokens", scores.size(), tokens.size()));
  constexpr std::size_t kLongest = 512;  // bytes; limits the work, since all ways to cut a token are looked up
  std::vector<ScoredToken> scored;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto& [text, type] = tokens[id];
    if (!scores[id].is_number() || !std::isfinite(scores[id].get<double>()))
      keys.fail("tokenizer.ggml.scores",
                fmt::format("the score of token {}, {}, is not a finite number", id, shown_text(text)));
    if (text.size() > kLongest)
      keys.fail("tokenizer.ggml.tokens", fmt::format("token {} has {} bytes, more than {}", id, text.size(), kLongest));
    if (type == TokenType::normal || type == TokenType::user_defined)
      scored.push_back({std::string(text), scores[id].get<double>()});
  }
  return scored;
}

// The steps that mark blanks, and those that undo it, as in Llama 2's tokenizer.json.
std::pair<Json, Json> marking_steps(bool has_prefix) {
  const auto replace = [](std::string_view text, std::string_view by) {
    return Json{{"type", "Replace"}, {"pattern", {{"String", text}}}, {"content", by}};
  };
  Json marks = Json::array(),
       back = Json::array({replace(kBlankMark, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}});
  if (has_prefix) {
    marks.push_back({{"type", "Prepend"}, {"prepend", kBlankMark}});
    back.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  marks.push_back(replace(" ", kBlankMark));
  return {std::move(marks), std::move(back)};
}

// A tokenizer whose tokens have scores instead of merges.
TokenizerParts scored_tokenizer(const GgufKeyReader& keys) {
  TokenizerParts parts;
  nlohmann::json added = nlohmann::json::array(), unknown;
  const std::vector<GgufToken> tokens = used_tokens(keys);
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto& [text, type] = tokens[id];
    parts.vocabulary.emplace_back(text, static_cast<std::int32_t>(id));
    if (type != TokenType::normal && type != TokenType::byte) added.push_back(added_token(id, tokens[id]));
    if (type == TokenType::unknown) unknown = text;
  }
  const Json* const prefix = keys.find("tokenizer.ggml.add_space_prefix");
  const auto [marks, back] = marking_steps(!prefix || *prefix != false);
  parts.merges = merges_of_scores(scored_tokens(keys, tokens));
  parts.rest = {{"version", "1.0"},
                {"added_tokens", std::move(added)},
                {"normalizer", {{"type", "Sequence"}, {"normalizers", nlohmann::json(marks)}}},
                {"pre_tokenizer", nullptr},
                {"decoder", {{"type", "Sequence"}, {"decoders", nlohmann::json(back)}}},
                {"model",
                 {{"type", "BPE"},
                  {"byte_fallback", true},
                  {"fuse_unk", true},
                  {"unk_token", std::move(unknown)},
                  {"vocab", nlohmann::json::object()},
                  {"merges", nlohmann::json::array()}}}};
  return parts;
}

Json byte_level(bool with_regex) {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", with_regex}};
}
Json split_by(std::string_view regex) {
  return {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
}
Json in_turn(Json first, Json second) {
  return {{"type", "Sequence"}, {"pretokenizers", {std::move(first), std::move(second)}}};
}

struct Family {
  std::string_view name;  // tokenizer.ggml.pre
  bool composes, words_are_whole;
  Json pre_tokenizer;
};
Family family_of(const GgufKeyReader& keys) {
  const std::string name = keys.text("tokenizer.ggml.pre");
  if (name == "qwen2") return {"qwen2", true, false, in_turn(split_by(kQwen2Regex), byte_level(false))};
  if (name == "llama-bpe") return {"llama-bpe", false, true, in_turn(split_by(kLlama3Regex), byte_level(false))};
  if (name == "smollm")
    return {"smollm", false, false, in_turn({{"type", "Digits"}, {"individual_digits", true}}, byte_level(true))};
  if (name == "gpt-2") return {"gpt-2", false, false, byte_level(true)};
  keys.fail("tokenizer.ggml.pre",
            fmt::format("{} is not a known split; agon knows qwen2, llama-bpe, smollm and gpt-2", name));
}

constexpr const char* kMerges = "tokenizer.ggml.merges";

std::pair<std::string, std::string> sides(const GgufKeyReader& keys, std::string_view merge) {
  const std::size_t blank = merge.find(' ');
  if (blank == std::string_view::npos || merge.find(' ', blank + 1) != std::string_view::npos)
    keys.fail(kMerges, fmt::format("{} is not two tokens with a blank between them", shown_text(merge)));
  return {std::string(merge.substr(0, blank)), std::string(merge.substr(blank + 1))};
}

// A tokenizer with merges.
TokenizerParts merged_tokenizer(const GgufKeyReader& keys) {
  TokenizerParts parts;
  nlohmann::json added = nlohmann::json::array();
  const std::vector<GgufToken> tokens = used_tokens(keys);
  const auto last = std::find_if(tokens.rbegin(), tokens.rend(),
                                 [](const GgufToken& token) { return token.type == TokenType::normal; });
  const auto in_vocabulary = static_cast<std::size_t>(tokens.rend() - last);
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    // The tokenizers library takes the id of an added token from the vocabulary; else it appends the token to it.
    if (id < in_vocabulary) parts.vocabulary.emplace_back(tokens[id].text, static_cast<std::int32_t>(id));
    if (tokens[id].type != TokenType::normal) added.push_back(added_token(id, tokens[id]));
  }
  for (const std::string_view merge : keys.texts(kMerges)) parts.merges.push_back(sides(keys, merge));
  const Family family = family_of(keys);
  parts.rest = {{"version", "1.0"},
                {"added_tokens", std::move(added)},
                {"normalizer", family.composes ? nlohmann::json{{"type", "NFC"}} : nlohmann::json()},
                {"pre_tokenizer", nlohmann::json(family.pre_tokenizer)},
                {"decoder", byte_level(true)},
                {"model",
                 {{"type", "BPE"},
                  {"ignore_merges", family.words_are_whole},
                  {"vocab", nlohmann::json::object()},
                  {"merges", nlohmann::json::array()}}}};
  return parts;
}

// The value of tokenizer.ggml.pre for a tokenizer.json.
std::string family_name(const nlohmann::json& tokenizer, const std::string& source) {
  const std::string pipeline = to_text(tokenizer.value("pre_tokenizer", nlohmann::json()));
  const auto holds = [&](std::string_view regex) { return pipeline.find(to_text(Json(regex))) != std::string::npos; };
  if (holds(kQwen2Regex)) return "qwen2";
  if (holds(kLlama3Regex)) return "llama-bpe";
  if (pipeline.find("\"Digits\"") != std::string::npos) return "smollm";
  if (pipeline.find("\"use_regex\":true") != std::string::npos) return "gpt-2";
  throw Error("{}: GGUF has no name for this tokenizer's split into words.", source);
}

}  // namespace

TokenizerParts gguf_tokenizer_parts(const GgufFile& file, const std::string& source) {
  const GgufKeyReader keys(file, source);
  const std::string model = keys.text("tokenizer.ggml.model");
  if (model == "llama") return scored_tokenizer(keys);
  if (model == "gpt2") return merged_tokenizer(keys);
  keys.fail("tokenizer.ggml.model",
            model + " is not supported, only gpt2 (byte-level BPE) and llama (SentencePiece's BPE)");
}

std::unique_ptr<Tokenizer> open_gguf_tokenizer(std::shared_ptr<const GgufFile> file, const std::string& source) {
  const TokenizerParts parts = gguf_tokenizer_parts(*file, source);
  return Tokenizer::make(
      parts, [file, source] { return tokenizer_json(gguf_tokenizer_parts(*file, source)); }, source);
}

Json gguf_end_tokens(const GgufKeyReader& keys) {
  Json ends = Json::array();
  for (const char* key : kEndKeys)
    if (const auto id = keys.id(key); id && std::find(ends.begin(), ends.end(), *id) == ends.end()) ends.push_back(*id);
  return ends;
}

std::int64_t gguf_token_id(const GgufKeyReader& keys, std::string_view token) {
  const std::vector<std::string_view> tokens = keys.texts("tokenizer.ggml.tokens");
  const auto found = std::find(tokens.begin(), tokens.end(), token);
  if (found == tokens.end()) keys.fail("tokenizer.ggml.tokens", fmt::format("no {}", token));
  return found - tokens.begin();
}

Json gguf_named_tokens(const GgufFile& file) {
  const GgufKeyReader keys(file, "");
  Json named = Json::object();
  const auto tokens = file.texts("tokenizer.ggml.tokens").value_or(std::vector<std::string_view>());
  for (const auto& [name, key] :
       {std::pair("bos_token", "tokenizer.ggml.bos_token_id"), std::pair("eos_token", "tokenizer.ggml.eos_token_id"),
        std::pair("pad_token", "tokenizer.ggml.padding_token_id"),
        std::pair("unk_token", "tokenizer.ggml.unknown_token_id")}) {
    const auto id = keys.id(key);
    if (id && *id < std::ssize(tokens)) named[name] = tokens[static_cast<std::size_t>(*id)];
  }
  return named;
}

std::vector<GgufKey> gguf_tokenizer_keys(const ModelFolder& parts) {
  std::vector<GgufKey> keys;
  const TokenizerParts tokenizer = read_tokenizer_parts(parts.tokenizer->json(), parts.path.string());
  std::vector<std::string> tokens(static_cast<std::size_t>(parts.config.text.vocab_size));
  std::vector<std::int32_t> types(tokens.size(), static_cast<std::int32_t>(TokenType::unused));
  for (std::size_t id = 0; id < tokens.size(); ++id) tokens[id] = fmt::format("[PAD{}]", id);
  const auto put = [&](std::size_t id, const std::string& token, TokenType type) {
    tokens.at(id) = token;
    types.at(id) = static_cast<std::int32_t>(type);
  };
  for (const auto& [token, id] : tokenizer.vocabulary) put(static_cast<std::size_t>(id), token, TokenType::normal);
  for (const nlohmann::json& added : tokenizer.rest.value("added_tokens", nlohmann::json::array()))
    put(added.at("id"), added.at("content"),
        added.value("special", false) ? TokenType::control : TokenType::user_defined);
  std::vector<std::string> merges;
  for (const auto& [left, right] : tokenizer.merges) merges.push_back(left + " " + right);
  keys.push_back({"tokenizer.ggml.model", std::string("gpt2")});
  keys.push_back({"tokenizer.ggml.pre", family_name(tokenizer.rest, parts.path.string())});
  keys.push_back({"tokenizer.ggml.tokens", std::move(tokens)});
  keys.push_back({"tokenizer.ggml.token_type", std::move(types)});
  keys.push_back({"tokenizer.ggml.merges", std::move(merges)});
  const std::vector<std::int32_t>& ends = parts.config.eos_token_ids;
  if (ends.size() > std::size(kEndKeys))
    throw Error("GGUF: {} has {} tokens that end a turn (eos_token_id), and a file can name {}.", parts.path.string(),
                ends.size(), std::size(kEndKeys));
  for (std::size_t i = 0; i < ends.size(); ++i) keys.push_back({kEndKeys[i], static_cast<std::uint32_t>(ends[i])});
  // Without a key, llama.cpp puts a default token before each text in some families.
  const std::optional<std::int32_t> bos = parts.tokenizer->id_of(parts.chat.variables().value("bos_token", ""));
  if (bos)
    keys.push_back({"tokenizer.ggml.bos_token_id", static_cast<std::uint32_t>(*bos)});
  else
    keys.push_back({"tokenizer.ggml.add_bos_token", false});
  if (const auto pad = parts.tokenizer->id_of("<|endoftext|>"))
    keys.push_back({"tokenizer.ggml.padding_token_id", static_cast<std::uint32_t>(*pad)});
  keys.push_back({"tokenizer.chat_template", parts.chat.jinja()});
  return keys;
}

}  // namespace agon::agents
