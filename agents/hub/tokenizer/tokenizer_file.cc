#include "agents/hub/tokenizer/tokenizer_file.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_set>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"

namespace agon::agents {
namespace {

using FileJson = nlohmann::json;

// Reads a tokenizer.json; every message names the file and the place in it.
class Reader {
 public:
  Reader(const TokenizerParts& parts, const std::string& source) : parts_(parts), file_(parts.rest), source_(source) {}

  TokenizerFile read() {
    require(file_.is_object(), "the file is not a JSON object");
    const FileJson& splitter = part("pre_tokenizer");
    if (splitter.is_null() || type_of(splitter) == "Metaspace") result_.blanks.emplace();
    result_.blanks ? read_marking() : read_byte_level();
    check_processor();
    const FileJson& model = at(file_, "model", "");
    check_model(model);
    read_added_tokens();
    read_vocabulary(at(model, "vocab", "model."));
    fill_ids();
    read_merges(at(model, "merges", "model."));
    if (result_.blanks) read_fallback(model);
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { refuse_tokenizer(source_, what); }
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

  // A part of the pipeline; null if absent.
  const FileJson& part(const char* key) const {
    static const FileJson none;
    return file_.contains(key) ? file_.at(key) : none;
  }
  // Tokens that a TemplateProcessing adds to every text are ignored: the chat template writes them.
  void check_processor() const {
    const FileJson& processor = part("post_processor");
    for (const FileJson& step : steps_of(processor, "processors"))
      require(type_of(step) == "ByteLevel" || type_of(step) == "TemplateProcessing",
              fmt::format("'post_processor' is {}, expected ByteLevel or TemplateProcessing", quote(processor)));
  }

  void read_byte_level() {
    const FileJson& normalizer = part("normalizer");
    result_.composes = !normalizer.is_null();
    require(normalizer.is_null() || normalizer == FileJson{{"type", "NFC"}},
            "'normalizer' is " + quote(normalizer) + ", expected NFC or null");
    read_splits(part("pre_tokenizer"));
    const FileJson& decoder = part("decoder");
    require(decoder.is_null() || type_of(decoder) == "ByteLevel",
            fmt::format("'decoder' is {}, expected ByteLevel", quote(decoder)));
  }

  // Blanks are marked by the normalizer, or by the newer Metaspace.
  void read_marking() {
    const FileJson &normalizer = part("normalizer"), &splitter = part("pre_tokenizer");
    if (splitter.is_null())
      read_marking_normalizer(normalizer);
    else
      read_metaspace(splitter);
    require(splitter.is_null() || normalizer.is_null(),
            fmt::format("'normalizer' is {}, expected null before Metaspace", quote(normalizer)));
    read_marking_decoder(part("decoder"));
  }

  void read_marking_normalizer(const FileJson& normalizer) {
    bool marks = false;
    for (const FileJson& step : steps_of(normalizer, "normalizers")) {
      const bool prepends = step == FileJson{{"type", "Prepend"}, {"prepend", kBlankMark}};
      require(prepends || step == replacing(" ", kBlankMark),
              fmt::format("'normalizer' is {}, expected Prepend \"{}\" and Replace \" \" by \"{}\" where there is no "
                          "pre_tokenizer",
                          quote(normalizer), kBlankMark, kBlankMark));
      if (prepends) result_.blanks->before = BlankBefore::every_text;
      marks = marks || !prepends;
    }
    require(marks,
            fmt::format("'pre_tokenizer' is null, and no Replace in 'normalizer' marks blanks: {}", quote(normalizer)));
    result_.blanks->in_normalizer = true;
  }

  void read_metaspace(const FileJson& splitter) {
    const FileJson scheme = splitter.value("prepend_scheme", FileJson("always"));
    require(splitter.value("replacement", FileJson()) == kBlankMark && splitter.value("split", FileJson(true)) == false,
            fmt::format("'pre_tokenizer' is {}, expected Metaspace with \"replacement\": \"{}\" and \"split\": false",
                        quote(splitter), kBlankMark));
    require(scheme == "always" || scheme == "first" || scheme == "never",
            fmt::format("'pre_tokenizer.prepend_scheme' is {}, expected always, first or never", quote(scheme)));
    if (scheme == "always") result_.blanks->before = BlankBefore::text_without;
    if (scheme == "first") result_.blanks->before = BlankBefore::first_without;
  }

  static FileJson replacing(std::string_view text, std::string_view by) {
    return {{"type", "Replace"}, {"pattern", {{"String", text}}}, {"content", by}};
  }

  // Replace, then optionally ByteFallback and Fuse, and after Fuse optionally Strip.
  void read_marking_decoder(const FileJson& decoder) {
    std::vector<FileJson> steps = steps_of(decoder, "decoders");
    auto step = steps.begin();
    const auto next_is = [&](const FileJson& expected) {
      const bool is = step != steps.end() && *step == expected;
      step += is;
      return is;
    };
    const bool replaces = next_is(replacing(kBlankMark, " "));
    shows_bytes_ = next_is({{"type", "ByteFallback"}});
    const bool fuses = next_is({{"type", "Fuse"}});
    if (fuses && step != steps.end() && type_of(*step) == "Strip") {
      const auto dropped = whole_number<std::size_t>(step->value("start", FileJson(0)), 0, 1000);
      if (dropped && next_is({{"type", "Strip"}, {"content", " "}, {"start", *dropped}, {"stop", 0}}))
        result_.dropped_blanks = *dropped;
    }
    require(
        replaces && step == steps.end(),
        fmt::format("'decoder' is {}, expected Replace \"{}\" by \" \", ByteFallback, Fuse and Strip of blanks at the "
                    "start",
                    quote(decoder), kBlankMark));
  }

  // A regex or a split at digits, then the byte map, which may use GPT-2's regex.
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
    expect_absent_or(model, result_.blanks ? "ignore_merges" : "byte_fallback", false, "model.");
    result_.words_are_whole = model.value("ignore_merges", FileJson(false)) == true;
  }

  // The id of an added token.
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
    for (const AddedToken& token : result_.added) added_.insert_or_assign(token.content, &token);
    result_.vocabulary.reserve(parts_.vocabulary.size());
    result_.blanks ? read_written() : read_mapped();
  }

  void read_mapped() {
    for (const auto& [symbols, id] : parts_.vocabulary) {
      if (added_.contains(symbols)) continue;  // read_added_tokens handles it
      const auto bytes = bytes_of_symbols(symbols);
      if (!bytes || bytes->empty()) fail(fmt::format("'{}' in model.vocab is not written in the byte map", symbols));
      result_.vocabulary.insert_or_assign(*bytes, id);
    }
    for (char byte = ' '; byte <= '~'; ++byte) {
      const std::string& symbol = byte_symbols()[static_cast<unsigned char>(byte)];
      require(result_.vocabulary.contains(std::string_view(&byte, 1)) || added_.contains(symbol),
              fmt::format("the byte '{}' has no token in model.vocab", symbol));
    }
  }

  // Special tokens are not in the vocabulary, because text must not merge to one. Other added tokens may be in it.
  void read_written() {
    for (const auto& [text, id] : parts_.vocabulary) {
      if (text.empty()) fail("a token in model.vocab is empty");
      const auto added = added_.find(text);
      if (added != added_.end() && added->second->id != id)
        fail(fmt::format("'{}' has the id {} in added_tokens and {} in model.vocab", text, added->second->id, id));
      if (added == added_.end() || !added->second->special)
        result_.vocabulary.insert_or_assign(text, id);
      else
        special_.insert(text);
    }
  }

  // The bytes of a token.
  std::string spelled(const std::string& token) const {
    if (!result_.blanks) return token;
    const int byte = shows_bytes_ ? byte_of(token) : -1;
    return byte >= 0 ? std::string(1, static_cast<char>(byte)) : replace_all(token, kBlankMark, " ");
  }
  // The bytes of an added token. One that is searched for in normalized text includes the blank put before it.
  std::string written(const AddedToken& token) const {
    if (token.special || !result_.blanks) return token.content;
    const bool took_blank = token.normalized && result_.blanks->before == BlankBefore::every_text;
    return fmt::format("{}{}", took_blank ? " " : "", spelled(token.content));
  }
  // The byte of a byte token, else -1.
  static int byte_of(std::string_view token) {
    int byte = -1;
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return -1;
    const auto [end, fault] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
    return fault == std::errc() && end == token.data() + 5 ? byte : -1;
  }

  // Whether the vocabulary includes the added token. Only SentencePiece's does.
  bool is_word(const AddedToken& token) const {
    const auto found = result_.vocabulary.find(token.content);
    return result_.blanks && found != result_.vocabulary.end() && found->second == token.id;
  }

  void fill_ids() {
    std::vector<AddedToken> beyond;  // added tokens that are not in the vocabulary
    std::copy_if(result_.added.begin(), result_.added.end(), std::back_inserter(beyond),
                 [&](const AddedToken& token) { return !is_word(token); });
    const std::size_t count = result_.vocabulary.size() + beyond.size();
    result_.bytes.resize(count);
    const auto place = [&](std::int32_t id, const std::string& bytes) {
      const auto index = static_cast<std::size_t>(id);
      if (index >= count)
        fail(fmt::format("id {} of '{}': {} tokens have ids 0 to {} without a hole", id, bytes, count,
                         static_cast<std::int64_t>(count) - 1));
      if (!result_.bytes[index].empty())
        fail(fmt::format("'{}' and '{}' have the same id {}", result_.bytes[index], bytes, id));
      result_.bytes[index] = bytes;
    };
    for (const auto& [token, id] : result_.vocabulary) place(id, spelled(token));
    for (const AddedToken& token : beyond) place(token.id, token.content);
    for (const AddedToken& token : result_.added) result_.bytes[static_cast<std::size_t>(token.id)] = written(token);
  }

  void read_merges(const FileJson& merges) {
    require(merges.is_array(), "'model.merges' is not a list");
    result_.merges.reserve(parts_.merges.size());
    for (std::size_t number = 0; number < parts_.merges.size(); ++number) {
      const std::string &left = parts_.merges[number].first, &right = parts_.merges[number].second;
      const auto id = [&](const std::string& written) {
        const auto token = result_.blanks ? written : bytes_of_symbols(written);
        const auto found = token ? result_.vocabulary.find(*token) : result_.vocabulary.end();
        if (found == result_.vocabulary.end())
          fail(fmt::format("merge {}, of '{}' and '{}': '{}' is not in model.vocab", number, left, right, written));
        return found->second;
      };
      const std::string both = left + right;
      if (!special_.empty() && (special_.contains(left) || special_.contains(right) || special_.contains(both)))
        continue;
      result_.merges.push_back({id(left), id(right), id(both)});
      reaches_over_ = reaches_over_ || (result_.blanks && has_inner_mark(both));
    }
  }
  // Whether a mark follows another character.
  static bool has_inner_mark(std::string_view token) {
    while (token.starts_with(kBlankMark)) token.remove_prefix(kBlankMark.size());
    return token.find(kBlankMark) != std::string_view::npos;
  }

  void read_fallback(const FileJson& model) {
    MarkedBlanks& blanks = *result_.blanks;
    blanks.fuses_unknown = model.value("fuse_unk", FileJson(false)) == true;
    blanks.falls_back_to_bytes = model.value("byte_fallback", FileJson(false)) == true;
    for (int byte = 0; blanks.falls_back_to_bytes && byte < 256; ++byte)
      require(result_.vocabulary.contains(byte_token(byte)),
              fmt::format("'model.byte_fallback' is true, and '{}' is not in model.vocab", byte_token(byte)));
    if (const FileJson unknown = model.value("unk_token", FileJson());
        !blanks.falls_back_to_bytes && !unknown.is_null()) {
      blanks.unknown = id_of(unknown);
      require(blanks.unknown.has_value(), fmt::format("'model.unk_token' is {}, which is not a token", quote(unknown)));
    }
    // If characters are dropped, a mark may become a neighbour of an earlier mark.
    const bool leaves_out = !blanks.falls_back_to_bytes && !blanks.unknown;
    blanks.begin_words = !reaches_over_ && !leaves_out && result_.vocabulary.contains(kBlankMark);
  }
  std::optional<std::int32_t> id_of(const FileJson& token) const {
    if (!token.is_string()) return std::nullopt;
    const auto& text = token.get_ref<const std::string&>();
    if (const auto found = result_.vocabulary.find(text); found != result_.vocabulary.end()) return found->second;
    const auto added = std::find_if(result_.added.begin(), result_.added.end(),
                                    [&](const AddedToken& other) { return other.content == text; });
    return added == result_.added.end() ? std::nullopt : std::optional(added->id);
  }

  const TokenizerParts& parts_;
  const FileJson& file_;
  const std::string& source_;
  TokenizerFile result_;
  std::unordered_map<std::string, const AddedToken*> added_;
  std::unordered_set<std::string> special_;  // special tokens that are also in model.vocab
  bool shows_bytes_ = false;                 // the decoder turns "<0xE4>" into that byte
  bool reaches_over_ = false;                // a merge joins a mark to another character before it
};

}  // namespace

std::string byte_token(int byte) { return fmt::format("<0x{:02X}>", byte); }

TokenizerFile read_tokenizer_file(const TokenizerParts& parts, const std::string& source) {
  try {
    return Reader(parts, source).read();
  } catch (const nlohmann::json::exception& error) {
    throw Error("tokenizer {}: {}. Is the file a complete tokenizer.json?", source, error.what());
  }
}

}  // namespace agon::agents
