#include "agents/hub/tokenizer/tokenizer_parts.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/json_builder.h"

namespace agon::agents {
namespace {

using FileJson = nlohmann::json;  // sorted keys: an ordered object of 150,000 names is quadratic to fill

std::string quote(const FileJson& json) { return to_text(json).substr(0, 200); }

// Builds the document, and diverts words and merges while parsing. They are found by their depth: the keys of "model"
// are within two objects, the words of its "vocab" and the entries of its "merges" within three.
class PartsBuilder final : public JsonBuilder<FileJson> {
 public:
  explicit PartsBuilder(const std::string& source) : source_(source) {}
  TokenizerParts take_parts() {
    parts_.rest = take();
    return std::move(parts_);
  }

  bool key(std::string& name) override {
    if (depth() == 1) begin_part(name);
    if (depth() == 2 && outer_ == "model") begin_list(name);
    if (depth() != 3 || inner_ != "vocab") return JsonBuilder::key(name);
    word_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    throw Error("tokenizer {}: {}. Is the file a complete tokenizer.json?", source_, error.what());
  }

 private:
  static constexpr std::size_t kDeepest = 32;

  // If a key occurs twice, the last one counts.
  void begin_part(const std::string& name) {
    outer_ = name;
    inner_.clear();
    if (name == "model") parts_.vocabulary.clear(), parts_.merges.clear();
  }
  void begin_list(const std::string& name) {
    inner_ = name;
    if (name == "vocab") parts_.vocabulary.clear();
    if (name == "merges") parts_.merges.clear();
  }

  bool is_in_merges() const { return depth() == 3 && inner_ == "merges" && in_list(); }

  bool add(FileJson value) override {
    if (!word_ && !is_in_merges()) return JsonBuilder::add(std::move(value));
    if (word_)
      add_word(value);
    else
      parts_.merges.push_back(sides(value));
    return true;
  }
  bool open(FileJson empty) override {
    if (word_) refuse_id("a list or an object");
    if (depth() == kDeepest) throw Error("tokenizer {}: nested more than {} deep.", source_, kDeepest);
    return JsonBuilder::open(std::move(empty));
  }
  bool close() override {
    JsonBuilder::close();
    if (!is_in_merges()) return true;
    parts_.merges.push_back(sides(innermost().back()));
    innermost().erase(innermost().size() - 1);
    return true;
  }

  void add_word(const FileJson& value) {
    const auto id = whole_number<std::int32_t>(value, 0, 0x7ffffffe);
    if (!id) refuse_id(quote(value));
    parts_.vocabulary.emplace_back(std::move(*word_), *id);
    word_.reset();
  }
  [[noreturn]] void refuse_id(const std::string& id) const {
    refuse_tokenizer(source_, fmt::format("the id of '{}' is {}, not a non-negative integer", *word_, id));
  }

  std::pair<std::string, std::string> sides(const FileJson& merge) const {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
      return {merge[0], merge[1]};
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
      refuse_tokenizer(source_, "the merge " + quote(merge) + " is neither \"a b\" nor [\"a\", \"b\"]");
    return {text.substr(0, space), text.substr(space + 1)};
  }

  const std::string& source_;
  TokenizerParts parts_;
  std::string outer_, inner_;        // the current keys of the document and of "model"
  std::optional<std::string> word_;  // a word of the vocabulary whose id comes next
};

bool has_blank(const std::pair<std::string, std::string>& merge) {
  return merge.first.find(' ') != std::string::npos || merge.second.find(' ') != std::string::npos;
}

}  // namespace

TokenizerParts read_tokenizer_parts(std::string_view tokenizer_json, const std::string& source) {
  PartsBuilder builder(source);
  FileJson::sax_parse(tokenizer_json, &builder);
  return builder.take_parts();
}

std::string tokenizer_json(const TokenizerParts& parts) {
  FileJson file = parts.rest;
  FileJson &vocabulary = file["model"]["vocab"] = FileJson::object(),
           &merges = file["model"]["merges"] = FileJson::array();
  for (const auto& [word, id] : parts.vocabulary) vocabulary[word] = id;
  const bool as_pairs = std::any_of(parts.merges.begin(), parts.merges.end(), has_blank);
  for (const auto& [left, right] : parts.merges)
    merges.push_back(as_pairs ? FileJson::array({left, right}) : FileJson(left + " " + right));
  return to_text(file);
}

void refuse_tokenizer(const std::string& source, const std::string& what) {
  throw Error(
      "tokenizer {}: {}. agon reads byte-level BPE tokenizers with the splits of GPT-2, SmolLM2, Llama 3 and Qwen2, "
      "and SentencePiece's BPE as Llama 2 has it.",
      source, what);
}

}  // namespace agon::agents
