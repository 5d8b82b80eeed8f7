#include "agents/local/tokenizer.h"

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "agents/local/pretokenize.h"
#include "core/error.h"
#include "core/json.h"

namespace agon::agents {
namespace {

using FileJson = nlohmann::json;  // sorted keys: an ordered object of 150,000 names is quadratic to fill

struct Merge {
  std::int32_t rank = -1, result = -1;
};

// (left id, right id) -> merge: open addressing, at most half full.
class MergeTable {
 public:
  explicit MergeTable(std::size_t count) {
    std::size_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    keys_.assign(slots, kEmpty);
    merges_.resize(slots);
  }
  void set(std::int32_t left, std::int32_t right, Merge merge) {
    const std::size_t slot = find_slot(key(left, right));
    keys_[slot] = key(left, right);
    merges_[slot] = merge;
  }
  const Merge* find(std::int32_t left, std::int32_t right) const {
    const std::size_t slot = find_slot(key(left, right));
    return keys_[slot] == kEmpty ? nullptr : &merges_[slot];
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }
  std::size_t find_slot(std::uint64_t wanted) const {
    std::uint64_t hash = wanted * 0x9e3779b97f4a7c15ull;
    std::size_t slot = (hash ^ hash >> 32) & (keys_.size() - 1);
    while (keys_[slot] != kEmpty && keys_[slot] != wanted) slot = (slot + 1) & (keys_.size() - 1);
    return slot;
  }

  std::vector<std::uint64_t> keys_;
  std::vector<Merge> merges_;
};

// One word while its symbols are merged: a linked list in a vector, and the possible merges by rank, then position.
class WordMerger {
 public:
  WordMerger(const MergeTable& table, std::vector<std::int32_t>& ids) : table_(table), ids_(ids) {
    const int count = static_cast<int>(ids.size());
    for (int i = 0; i < count; ++i) links_.push_back({i - 1, i + 1 < count ? i + 1 : -1});
    for (int i = 0; i + 1 < count; ++i) propose(i);
  }
  void run() {
    while (!candidates_.empty()) {
      const Candidate candidate = candidates_.top();
      candidates_.pop();
      if (still_there(candidate)) apply(candidate);
    }
    std::size_t count = 0;
    for (int i = 0; i >= 0; i = links_[static_cast<std::size_t>(i)].next)
      ids_[count++] = ids_[static_cast<std::size_t>(i)];
    ids_.resize(count);
  }

 private:
  struct Link {
    int previous, next;
  };
  struct Candidate {
    std::int32_t rank;
    int position;
    std::int32_t left, right, result;
    bool operator<(const Candidate& other) const {  // priority_queue puts the largest first
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };
  Link& link(int i) { return links_[static_cast<std::size_t>(i)]; }
  std::int32_t& id(int i) { return ids_[static_cast<std::size_t>(i)]; }

  void propose(int position) {
    const int next = position < 0 ? -1 : link(position).next;
    if (next < 0) return;
    if (const Merge* merge = table_.find(id(position), id(next)))
      candidates_.push({merge->rank, position, id(position), id(next), merge->result});
  }
  bool still_there(const Candidate& candidate) {
    const int next = link(candidate.position).next;
    return id(candidate.position) == candidate.left && next >= 0 && id(next) == candidate.right;
  }
  void apply(const Candidate& candidate) {
    const int position = candidate.position, right = link(position).next, after = link(right).next;
    id(position) = candidate.result;
    id(right) = -1;  // gone: no candidate finds it
    link(position).next = after;
    if (after >= 0) link(after).previous = position;
    propose(link(position).previous);
    propose(position);
  }

  const MergeTable& table_;
  std::vector<std::int32_t>& ids_;
  std::vector<Link> links_;
  std::priority_queue<Candidate> candidates_;
};

// What a tokenizer.json says, checked.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool special = false, normalized = false;
};
struct Pieces {
  std::string json;
  std::vector<std::string> bytes;  // of each id
  std::unordered_map<std::string, std::int32_t> vocabulary;
  std::vector<std::array<std::int32_t, 3>> merges;  // left, right, result, in order of rank
  std::vector<AddedToken> added;
};

class BpeTokenizer : public Tokenizer {
 public:
  explicit BpeTokenizer(Pieces pieces)
      : json_(std::move(pieces.json)), bytes_(std::move(pieces.bytes)), table_(pieces.merges.size()) {
    for (std::size_t rank = 0; rank < pieces.merges.size(); ++rank) {
      const auto& [left, right, result] = pieces.merges[rank];
      table_.set(left, right, {static_cast<std::int32_t>(rank), result});
    }
    for (int byte = 0; byte < 256; ++byte)
      byte_ids_[static_cast<std::size_t>(byte)] = pieces.vocabulary.at(std::string(1, static_cast<char>(byte)));
    add_words(pieces.vocabulary);
    special_.resize(bytes_.size());
    for (const AddedToken& token : pieces.added) add_token(token);
  }

  std::vector<std::int32_t> encode(std::string_view text, bool with_special_tokens) const override {
    std::vector<std::int32_t> ids;
    std::string buffer;
    const auto on_token = [&](std::int32_t id) { ids.push_back(id); };
    const auto on_words = [&](std::string_view words) { encode_words(words, ids); };
    const auto on_text = [&](std::string_view stretch) {
      normalized_added_.split(to_nfc(stretch, buffer), with_special_tokens, on_words, on_token);
    };
    added_.split(text, with_special_tokens, on_text, on_token);
    return ids;
  }

  std::string decode(std::span<const std::int32_t> ids, bool skip_special) const override {
    std::string text;
    for (std::int32_t id : ids)
      if (!skip_special || !is_special(id)) text += token_bytes(id);
    return text;
  }

  std::string token_bytes(std::int32_t id) const override {
    return has_token(id) ? bytes_[static_cast<std::size_t>(id)] : std::string();
  }
  std::optional<std::int32_t> id_of(std::string_view added_token) const override {
    const auto found = added_ids_.find(std::string(added_token));
    return found == added_ids_.end() ? std::nullopt : std::optional(found->second);
  }
  bool is_special(std::int32_t id) const override { return has_token(id) && special_[static_cast<std::size_t>(id)]; }
  int vocab_size() const override { return static_cast<int>(bytes_.size()); }
  const std::string& json() const override { return json_; }

 private:
  bool has_token(std::int32_t id) const { return id >= 0 && id < vocab_size(); }

  // Words that merge to one token are looked up whole. (A token of the vocabulary need not be one.)
  void add_words(const std::unordered_map<std::string, std::int32_t>& vocabulary) {
    std::vector<std::int32_t> ids;
    for (const auto& [bytes, id] : vocabulary) {
      ids.clear();
      merge_word(bytes, ids);
      if (ids.size() == 1) words_.emplace(bytes_[static_cast<std::size_t>(id)], id);
    }
  }

  void add_token(const AddedToken& token) {
    std::string buffer;
    if (token.normalized)
      normalized_added_.add(std::string(to_nfc(token.content, buffer)), token.id, token.special);
    else
      added_.add(token.content, token.id, token.special);
    added_ids_[token.content] = token.id;
    special_[static_cast<std::size_t>(token.id)] = token.special;
  }

  void encode_words(std::string_view text, std::vector<std::int32_t>& ids) const {
    for (std::size_t start = 0, end = 0; start < text.size(); start = end) {
      end = word_end(text, start);
      const std::string_view word = text.substr(start, end - start);
      if (const auto found = words_.find(word); found != words_.end())
        ids.push_back(found->second);
      else
        merge_word(word, ids);
    }
  }

  void merge_word(std::string_view word, std::vector<std::int32_t>& ids) const {
    std::vector<std::int32_t> symbols;
    for (char byte : word) symbols.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    WordMerger(table_, symbols).run();
    ids.insert(ids.end(), symbols.begin(), symbols.end());
  }

  std::string json_;
  std::vector<std::string> bytes_;
  MergeTable table_;
  std::array<std::int32_t, 256> byte_ids_{};
  std::unordered_map<std::string_view, std::int32_t> words_;  // keys are views of bytes_
  std::unordered_map<std::string, std::int32_t> added_ids_;
  std::vector<bool> special_;
  AddedTokens added_, normalized_added_;
};

// Reads one tokenizer.json; every message names the file and the place in it.
class Reader {
 public:
  Reader(const FileJson& file, const std::string& source) : file_(file), source_(source) {}

  Pieces read() {
    require(file_.is_object(), "the file is not a JSON object");
    check_pipeline();
    const FileJson& model = at(file_, "model", "");
    check_model(model);
    read_added_tokens();
    read_vocabulary(at(model, "vocab", "model."));
    fill_ids();
    read_merges(at(model, "merges", "model."));
    return std::move(pieces_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("tokenizer {}: {}. agon reads byte-level BPE tokenizers of the Qwen2 family.", source_, what);
  }
  void require(bool holds, const std::string& what) const {
    if (!holds) fail(what);
  }
  static std::string quote(const FileJson& json) {
    return json.dump(-1, ' ', false, FileJson::error_handler_t::replace).substr(0, 200);
  }
  const FileJson& at(const FileJson& object, const char* key, const std::string& path) const {
    require(object.is_object() && object.contains(key), fmt::format("'{}{}' is missing", path, key));
    return object.at(key);
  }
  // The value must be what the Qwen2 family has there, or absent.
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
    require(json.is_number_integer() && json >= 0 && json <= 0x7ffffffe,
            fmt::format("the id of '{}' is {}, not a non-negative integer", token, quote(json)));
    return json.get<std::int32_t>();
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
      pieces_.added.push_back(std::move(token));
    }
  }

  void read_vocabulary(const FileJson& vocabulary) {
    require(vocabulary.is_object(), "'model.vocab' is not an object");
    std::unordered_set<std::string> added;
    for (const AddedToken& token : pieces_.added) added.insert(token.content);
    for (const auto& [symbols, id] : vocabulary.items()) {
      if (added.contains(symbols)) continue;  // read_added_tokens has it
      const auto bytes = bytes_of_symbols(symbols);
      require(bytes && !bytes->empty(), fmt::format("'{}' in model.vocab is not written in the byte map", symbols));
      pieces_.vocabulary.emplace(*bytes, to_id(id, symbols));
    }
    for (const std::string& symbol : byte_symbols())
      require(vocabulary.contains(symbol), fmt::format("the byte '{}' has no token in model.vocab", symbol));
  }

  void fill_ids() {
    const std::size_t count = pieces_.vocabulary.size() + pieces_.added.size();
    pieces_.bytes.resize(count);
    const auto place = [&](std::int32_t id, const std::string& bytes) {
      const auto index = static_cast<std::size_t>(id);
      require(index < count, fmt::format("id {} of '{}': {} tokens have ids 0 to {} without a hole", id, bytes, count,
                                         static_cast<std::int64_t>(count) - 1));
      require(pieces_.bytes[index].empty(),
              fmt::format("'{}' and '{}' have the same id {}", pieces_.bytes[index], bytes, id));
      pieces_.bytes[index] = bytes;
    };
    for (const auto& [bytes, id] : pieces_.vocabulary) place(id, bytes);
    for (const AddedToken& token : pieces_.added) place(token.id, token.content);
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
        const auto found = bytes ? pieces_.vocabulary.find(*bytes) : pieces_.vocabulary.end();
        require(found != pieces_.vocabulary.end(), fmt::format("merge {} of {}: '{}' is not in model.vocab",
                                                               pieces_.merges.size(), quote(merge), symbols));
        return found->second;
      };
      pieces_.merges.push_back({id(left), id(right), id(left + right)});
    }
  }

  const FileJson& file_;
  const std::string& source_;
  Pieces pieces_;
};

}  // namespace

std::unique_ptr<Tokenizer> Tokenizer::parse(std::string_view tokenizer_json, const std::string& source) {
  try {
    Pieces pieces = Reader(FileJson::parse(tokenizer_json), source).read();
    pieces.json = tokenizer_json;
    return std::make_unique<BpeTokenizer>(std::move(pieces));
  } catch (const FileJson::exception& error) {
    throw Error("tokenizer {}: {}. Is the file a complete tokenizer.json?", source, error.what());
  }
}

}  // namespace agon::agents
