#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "agents/hub/gguf/model.h"
#include "agents/hub/gguf/tokenizer.h"
#include "agents/hub/json_file.h"
#include "agents/hub/tokenizer/tokenizer.h"
#include "cli/commands/commands.h"
#include "cli/flags/usage.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct TokenizeFlags {
  std::string policy, text, file;
  bool text_given = false, special = false, json = false;
};

std::unique_ptr<agents::Tokenizer> tokenizer_of(const fs::path& place) {
  if (const auto gguf = agents::find_gguf(place))
    return agents::open_gguf_tokenizer(agents::GgufFile::open(*gguf), gguf->string());
  const fs::path file = fs::is_directory(place) ? place / "tokenizer.json" : place;
  if (!fs::exists(file))
    throw Error("tokenize: {}: no such file. Give a model folder, a GGUF file or a tokenizer.json.", file.string());
  return agents::Tokenizer::parse(agents::read_small_file(file), file.string());
}

// "text" of each line of a JSONL file.
std::vector<std::string> texts_of(const std::string& file) {
  std::vector<std::string> texts;
  std::size_t number = 0;
  for (const std::string& line : split(read_file(file), "\n")) {
    ++number;
    if (trim(line).empty()) continue;
    const ParsedJson json = parse_json_of_file(line);
    if (!json.fault.empty()) throw Error("tokenize: {}:{}: {}", file, number, json.fault);
    try {
      texts.push_back(text_at(json.value, "text"));
    } catch (const Error& error) {
      throw Error("tokenize: {}:{}: {}", file, number, error.what());
    }
  }
  return texts;
}

std::string standard_input() { return {std::istreambuf_iterator<char>(std::cin), {}}; }

Json to_json(const agents::Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  Json tokens = Json::array();
  std::size_t offset = 0;
  for (const std::int32_t id : ids) {
    const std::string bytes = tokenizer.token_bytes(id);
    tokens.push_back(
        {{"id", id}, {"text", valid_utf8(bytes)}, {"offset", offset}, {"special", tokenizer.is_special(id)}});
    offset += bytes.size();
  }
  return {{"count", ids.size()}, {"tokens", std::move(tokens)}};
}

void print_tokens(const Json& tokens) {
  fmt::print("{:>8}  {:>8}  {}\n", "id", "offset", "text");
  for (const Json& token : tokens.at("tokens"))
    fmt::print("{:>8}  {:>8}  {}{}\n", token.at("id").get<std::int32_t>(), token.at("offset").get<std::size_t>(),
               to_text(token.at("text")), token.at("special") ? "  special" : "");
  fmt::print("{} tokens\n", tokens.at("count").get<std::size_t>());
}

void tokenize_file(const agents::Tokenizer& tokenizer, const TokenizeFlags& flags) {
  Json list = Json::array();
  std::size_t all = 0, most = 0;
  for (const std::string& text : texts_of(flags.file)) {
    const std::vector<std::int32_t> ids = tokenizer.encode(text, flags.special);
    all += ids.size();
    most = std::max(most, ids.size());
    if (flags.json) list.push_back(ids);
  }
  if (flags.json) return print_measured({{"count", all}, {"ids", std::move(list)}});
  fmt::print("{} tokens, at most {} in a text\n", all, most);
}

void tokenize(const TokenizeFlags& flags) {
  const auto tokenizer =
      tokenizer_of(fs::exists(flags.policy) ? fs::path(flags.policy) : find_model_folder(flags.policy));
  if (!flags.file.empty()) return tokenize_file(*tokenizer, flags);
  const std::vector<std::int32_t> ids =
      tokenizer->encode(flags.text_given ? flags.text : standard_input(), flags.special);
  const Json tokens = to_json(*tokenizer, ids);
  flags.json ? print_measured(tokens) : print_tokens(tokens);
}

}  // namespace

void add_tokenize(CLI::App& app) {
  auto flags = std::make_shared<TokenizeFlags>();
  CLI::App* command = app.add_subcommand("tokenize", "Print the tokens of a text");
  CLI::Option* text = command->add_option("TEXT", flags->text, "Text (default: standard input)");
  command
      ->add_option("--policy", flags->policy,
                   std::string("Model folder, GGUF file or tokenizer.json (default: ") + kDefaultModel + ")")
      ->type_name("<path>");
  command
      ->add_option("--file", flags->file, "JSON Lines with \"text\": print the total and the largest number of tokens")
      ->type_name("<path>")
      ->check(some_text())
      ->excludes(text);
  command->add_flag("--special", flags->special, "Read special tokens in the text as such (default: as text)");
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags, text] {
    flags->text_given = text->count() > 0;
    tokenize(*flags);
  });
}

}  // namespace agon::cli
