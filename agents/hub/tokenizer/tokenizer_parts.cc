#include "agents/hub/tokenizer/tokenizer_parts.h"

#include <algorithm>
#include <optional>

#include "core/error.h"

namespace agon::agents {
namespace {

using FileJson = nlohmann::json;  // sorted keys: an ordered object of 150,000 names is quadratic to fill

std::string quote(const FileJson& json) { return to_text(json).substr(0, 200); }

// Hears every event of the parser and takes the words and merges out of the document that the parser builds. Depths: a
// key of the document has 1, a key of "model" 2, a word of its "vocab" or an entry of its "merges" 3.
class ListReader {
 public:
  using Event = FileJson::parse_event_t;

  ListReader(TokenizerParts& parts, const std::string& source) : parts_(parts), source_(source) {}

  // Whether the parser keeps the value, or the value of the key.
  bool hear(int depth, Event event, FileJson& parsed) {
    switch (event) {
      case Event::key:
        return hear_key(depth, parsed.get_ref<const std::string&>());
      case Event::value:
        return hear_value(depth, parsed);
      case Event::object_start:
      case Event::array_start:
        if (depth == 3 && word_) refuse_id("a list or an object");
        if (depth == 2) in_merges_ = inner_ == "merges" && event == Event::array_start;
        return true;
      case Event::object_end:
      case Event::array_end:
        if (depth == 2) in_merges_ = false;
        return depth != 3 || !in_merges_ || !take_merge(parsed);
    }
    return true;
  }

 private:
  bool hear_key(int depth, const std::string& key) {
    if (depth == 1) outer_ = key;
    if (depth <= 2) inner_ = depth == 2 && outer_ == "model" ? key : "";
    if (depth != 3 || inner_ != "vocab") return true;
    word_ = key;
    return false;
  }

  bool hear_value(int depth, const FileJson& value) {
    if (depth != 3) return true;
    if (in_merges_) return !take_merge(value);
    if (!word_) return true;
    const auto id = whole_number<std::int32_t>(value, 0, 0x7ffffffe);
    if (!id) refuse_id(quote(value));
    parts_.vocabulary.emplace_back(std::move(*word_), *id);
    word_.reset();
    return true;  // its key is not kept
  }

  [[noreturn]] void refuse_id(const std::string& id) const {
    refuse_tokenizer(source_, fmt::format("the id of '{}' is {}, not a non-negative integer", *word_, id));
  }

  bool take_merge(const FileJson& merge) {
    parts_.merges.push_back(sides(merge));
    return true;
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

  TokenizerParts& parts_;
  const std::string& source_;
  std::string outer_, inner_;        // the last keys of the document and, if it is "model", of that
  std::optional<std::string> word_;  // of the vocabulary, whose id comes next
  bool in_merges_ = false;
};

bool has_blank(const std::pair<std::string, std::string>& merge) {
  return merge.first.find(' ') != std::string::npos || merge.second.find(' ') != std::string::npos;
}

}  // namespace

TokenizerParts read_tokenizer_parts(std::string_view tokenizer_json, const std::string& source) {
  TokenizerParts parts;
  ListReader lists(parts, source);
  try {
    parts.rest = FileJson::parse(tokenizer_json, [&](int depth, ListReader::Event event, FileJson& parsed) {
      return lists.hear(depth, event, parsed);
    });
  } catch (const FileJson::exception& error) {
    throw Error("tokenizer {}: {}. Is the file a complete tokenizer.json?", source, error.what());
  }
  return parts;
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
