#include "agents/hub/tokenizer_file.h"

#include <algorithm>
#include <unordered_set>

#include "core/error.h"
#include "core/json.h"

namespace agon::agents {
namespace {

using FileJson = nlohmann::json;  // sorted keys: an ordered object of 150,000 names is quadratic to fill

// Reads a tokenizer.json; every message names the file and the place in it.
class Reader {
 public:
  Reader(const FileJson& file, const std::string& source) : file_(file), source_(source) {}

  TokenizerFile read() {
    require(file_.is_object(), "the file is not a JSON object");
    read_pipeline();
    const FileJson& model = at(file_, "model", "");
    check_model(model);
    read_added_tokens();
    read_vocabulary(at(model, "vocab", "model."));
    fill_ids();
    read_merges(at(model, "merges", "model."));
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(
        "tokenizer {}: {}. agon reads byte-level BPE tokenizers with the splits of GPT-2, SmolLM2, Llama 3 and Qwen2.",
        source_, what);
  }
  void require(bool holds, const std::string& what) const {
    if (!holds) fail(what);
  }
  static std::string quote(const FileJson& json) { return to_text(json).substr(0, 200); }
  const FileJson& at(const FileJson& object, const char* key, const std::string& path) const {
    require(object.is_object() && object.contains(key), fmt::format("'{}{}' is missing", path, key));
    return object.at(key);
  }
  // The value must be the expected one, or absent.
  void expect_absent_or(const FileJson& object, const char* key, const FileJson& expected, const std::string& path) {
    if (!object.contains(key) || object.at(key).is_null() || object.at(key) == expected) return;
    fail(fmt::format("'{}{}' is {}, expected {}", path, key, quote(object.at(key)), quote(expected)));
  }

  static std::string type_of(const FileJson& step) {
    return step.is_object() && step.contains("type") && step.at("type").is_string() ? step.at("type") : "";
  }
  // The steps of a Sequence, or the step itself.
  static std::vector<FileJson> steps_of(const FileJson& step, const char* key) {
    if (step.is_null()) return {};
    if (type_of(step) != "Sequence" || !step.contains(key) || !step.at(key).is_array()) return {step};
    return {step.at(key).begin(), step.at(key).end()};
  }

  void read_pipeline() {
    const FileJson& normalizer = file_.contains("normalizer") ? file_.at("normalizer") : FileJson();
    result_.composes = !normalizer.is_null();
    require(normalizer.is_null() || normalizer == FileJson{{"type", "NFC"}},
            "'normalizer' is " + quote(normalizer) + ", expected NFC or null");
    read_splits(at(file_, "pre_tokenizer", ""));
    const FileJson& decoder = file_.contains("decoder") ? file_.at("decoder") : FileJson();
    require(decoder.is_null() || type_of(decoder) == "ByteLevel",
            fmt::format("'decoder' is {}, expected ByteLevel", quote(decoder)));
    // What a template adds to every text, the chat template writes itself.
    const FileJson& processor = file_.contains("post_processor") ? file_.at("post_processor") : FileJson();
    for (const FileJson& step : steps_of(processor, "processors"))
      require(type_of(step) == "ByteLevel" || type_of(step) == "TemplateProcessing",
              fmt::format("'post_processor' is {}, expected ByteLevel or TemplateProcessing", quote(processor)));
  }

  // A regex or the digits, then the byte map, which may have GPT-2's regex.
  void read_splits(const FileJson& splitter) {
    std::vector<FileJson> steps = steps_of(splitter, "pretokenizers");
    const auto require_known = [&](bool holds) {
      require(holds, "'pre_tokenizer' is none of the known splits: " + quote(splitter));
    };
    require_known(!steps.empty() && steps.size() <= 2 && type_of(steps.back()) == "ByteLevel" &&
                  steps.back().value("add_prefix_space", FileJson(true)) == false);
    const bool has_gpt2 = steps.back().value("use_regex", FileJson(true)) == true;
    const FileJson first = steps.size() == 2 ? steps.front() : FileJson();
    result_.parts_digits = first == FileJson{{"type", "Digits"}, {"individual_digits", true}};
    if (has_gpt2) {
      require_known(first.is_null() || result_.parts_digits);
      result_.split = WordSplit::gpt2;
      return;
    }
    const auto is_split = [&](std::string_view regex) {
      return first ==
             FileJson{{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
    };
    require_known(is_split(kQwen2Regex) || is_split(kLlama3Regex));
    result_.split = is_split(kLlama3Regex) ? WordSplit::llama3 : WordSplit::qwen2;
  }

  void check_model(const FileJson& model) {
    require(model.is_object() && model.value("type", FileJson("BPE")) == "BPE",
            "'model' is " + quote(model) + ", expected the type BPE");
    expect_absent_or(model, "dropout", 0.0, "model.");
    expect_absent_or(model, "continuing_subword_prefix", "", "model.");
    expect_absent_or(model, "end_of_word_suffix", "", "model.");
    expect_absent_or(model, "byte_fallback", false, "model.");
    result_.words_are_whole = model.value("ignore_merges", FileJson(false)) == true;
  }

  std::int32_t to_id(const FileJson& json, const std::string& token) const {
    const auto id = whole_number<std::int32_t>(json, 0, 0x7ffffffe);
    require(id.has_value(), fmt::format("the id of '{}' is {}, not a non-negative integer", token, quote(json)));
    return *id;
  }

  void read_added_tokens() {
    const FileJson list = file_.value("added_tokens", FileJson::array());
    require(list.is_array(), "'added_tokens' is not a list");
    for (const FileJson& entry : list) {
      const FileJson& content = at(entry, "content", "added_tokens[].");
      require(content.is_string() && !content.get_ref<const std::string&>().empty(),
              "an added token's content is " + quote(content));
      AddedToken token{content, to_id(at(entry, "id", "added_tokens[]."), content)};
      const auto flag = [&](const char* key) { return entry.value(key, FileJson(false)) == true; };
      token.special = flag("special");
      token.normalized = flag("normalized");
      token.single_word = flag("single_word");
      token.lstrip = flag("lstrip");
      token.rstrip = flag("rstrip");
      result_.added.push_back(std::move(token));
    }
  }

  void read_vocabulary(const FileJson& vocabulary) {
    require(vocabulary.is_object(), "'model.vocab' is not an object");
    std::unordered_set<std::string> added;
    for (const AddedToken& token : result_.added) added.insert(token.content);
    for (const auto& [symbols, id] : vocabulary.items()) {
      if (added.contains(symbols)) continue;  // read_added_tokens has it
      const auto bytes = bytes_of_symbols(symbols);
      require(bytes && !bytes->empty(), fmt::format("'{}' in model.vocab is not written in the byte map", symbols));
      result_.vocabulary.emplace(*bytes, to_id(id, symbols));
    }
    for (int byte = ' '; byte <= '~'; ++byte) {
      const std::string& symbol = byte_symbols()[static_cast<std::size_t>(byte)];
      require(vocabulary.contains(symbol), fmt::format("the byte '{}' has no token in model.vocab", symbol));
    }
  }

  void fill_ids() {
    const std::size_t count = result_.vocabulary.size() + result_.added.size();
    result_.bytes.resize(count);
    const auto place = [&](std::int32_t id, const std::string& bytes) {
      const auto index = static_cast<std::size_t>(id);
      require(index < count, fmt::format("id {} of '{}': {} tokens have ids 0 to {} without a hole", id, bytes, count,
                                         static_cast<std::int64_t>(count) - 1));
      require(result_.bytes[index].empty(),
              fmt::format("'{}' and '{}' have the same id {}", result_.bytes[index], bytes, id));
      result_.bytes[index] = bytes;
    };
    for (const auto& [bytes, id] : result_.vocabulary) place(id, bytes);
    for (const AddedToken& token : result_.added) place(token.id, token.content);
  }

  std::pair<std::string, std::string> merge_sides(const FileJson& merge) const {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
      return {merge[0], merge[1]};
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const std::size_t space = text.find(' ');
    require(space != std::string::npos && text.find(' ', space + 1) == std::string::npos,
            "the merge " + quote(merge) + " is neither \"a b\" nor [\"a\", \"b\"]");
    return {text.substr(0, space), text.substr(space + 1)};
  }

  void read_merges(const FileJson& merges) {
    require(merges.is_array(), "'model.merges' is not a list");
    for (const FileJson& merge : merges) {
      const auto [left, right] = merge_sides(merge);
      const auto id = [&](const std::string& symbols) {
        const auto bytes = bytes_of_symbols(symbols);
        const auto found = bytes ? result_.vocabulary.find(*bytes) : result_.vocabulary.end();
        require(found != result_.vocabulary.end(), fmt::format("merge {} of {}: '{}' is not in model.vocab",
                                                               result_.merges.size(), quote(merge), symbols));
        return found->second;
      };
      result_.merges.push_back({id(left), id(right), id(left + right)});
    }
  }

  const FileJson& file_;
  const std::string& source_;
  TokenizerFile result_;
};

}  // namespace

TokenizerFile read_tokenizer_file(std::string_view tokenizer_json, const std::string& source) {
  try {
    return Reader(FileJson::parse(tokenizer_json), source).read();
  } catch (const FileJson::exception& error) {
    throw Error("tokenizer {}: {}. Is the file a complete tokenizer.json?", source, error.what());
  }
}

}  // namespace agon::agents
