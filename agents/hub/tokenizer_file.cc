#include "agents/hub/tokenizer_file.h"

#include <algorithm>
#include <unordered_set>

#include "agents/hub/pretokenize.h"
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
    check_pipeline();
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
    throw Error("tokenizer {}: {}. agon reads byte-level BPE tokenizers of the Qwen2 family.", source_, what);
  }
  void require(bool holds, const std::string& what) const {
    if (!holds) fail(what);
  }
  static std::string quote(const FileJson& json) { return to_text(json).substr(0, 200); }
  const FileJson& at(const FileJson& object, const char* key, const std::string& path) const {
    require(object.is_object() && object.contains(key), fmt::format("'{}{}' is missing", path, key));
    return object.at(key);
  }
  // The value must be that of the Qwen2 family, or absent.
  void expect_absent_or(const FileJson& object, const char* key, const FileJson& expected, const std::string& path) {
    if (!object.contains(key) || object.at(key).is_null() || object.at(key) == expected) return;
    fail(fmt::format("'{}{}' is {}, expected {}", path, key, quote(object.at(key)), quote(expected)));
  }

  void check_pipeline() {
    static const FileJson kSteps = {
        {{"type", "Split"}, {"pattern", {{"Regex", kQwen2Regex}}}, {"behavior", "Isolated"}, {"invert", false}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}};
    const FileJson& normalizer = at(file_, "normalizer", "");
    require(normalizer == FileJson{{"type", "NFC"}}, "'normalizer' is " + quote(normalizer) + ", expected NFC");
    const FileJson& splitter = at(file_, "pre_tokenizer", "");
    FileJson steps = splitter.is_object() ? splitter.value("pretokenizers", FileJson()) : FileJson();
    if (steps.is_array() && steps.size() == 2 && steps[1].is_object()) steps[1].erase("trim_offsets");
    require(steps == kSteps, "'pre_tokenizer' is not the Qwen2 split but " + quote(splitter));
    for (const char* key : {"decoder", "post_processor"}) {
      const FileJson& step = file_.contains(key) ? file_.at(key) : FileJson();
      require(step.is_null() || (step.is_object() && step.value("type", FileJson()) == "ByteLevel"),
              fmt::format("'{}' is {}, expected ByteLevel", key, quote(step)));
    }
  }

  void check_model(const FileJson& model) {
    require(model.is_object() && model.value("type", FileJson("BPE")) == "BPE",
            "'model' is " + quote(model) + ", expected the type BPE");
    expect_absent_or(model, "dropout", 0.0, "model.");
    expect_absent_or(model, "continuing_subword_prefix", "", "model.");
    expect_absent_or(model, "end_of_word_suffix", "", "model.");
    expect_absent_or(model, "byte_fallback", false, "model.");
    expect_absent_or(model, "ignore_merges", false, "model.");
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
      for (const char* key : {"single_word", "lstrip", "rstrip"})
        expect_absent_or(entry, key, false, "added_tokens[].");
      token.special = entry.value("special", FileJson(false)) == true;
      token.normalized = entry.value("normalized", FileJson(false)) == true;
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
    for (const std::string& symbol : byte_symbols())
      require(vocabulary.contains(symbol), fmt::format("the byte '{}' has no token in model.vocab", symbol));
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
