#include "agents/hub/tokenizer.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "agents/hub/pretokenize.h"
#include "agents/hub/tokenizer_file.h"

namespace agon::agents {
namespace {

constexpr std::int32_t kNoToken = -1;

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

class BpeTokenizer : public Tokenizer {
 public:
  BpeTokenizer(std::string json, TokenizerFile file)
      : json_(std::move(json)),
        bytes_(std::move(file.bytes)),
        table_(file.merges.size()),
        split_(file.split),
        composes_(file.composes),
        parts_digits_(file.parts_digits) {
    for (std::size_t rank = 0; rank < file.merges.size(); ++rank) {
      const auto& [left, right, result] = file.merges[rank];
      table_.set(left, right, {static_cast<std::int32_t>(rank), result});
    }
    byte_ids_.fill(kNoToken);
    for (int byte = 0; byte < 256; ++byte)
      if (const auto found = file.vocabulary.find(std::string(1, static_cast<char>(byte)));
          found != file.vocabulary.end())
        byte_ids_[static_cast<std::size_t>(byte)] = found->second;
    add_words(file.vocabulary, file.words_are_whole);
    special_.resize(bytes_.size());
    for (const AddedToken& token : file.added) add_token(token);
  }

  std::vector<std::int32_t> encode(std::string_view text, bool with_special_tokens) const override {
    std::vector<std::int32_t> ids;
    std::string buffer;
    const auto on_token = [&](std::int32_t id) { ids.push_back(id); };
    const auto on_words = [&](std::string_view words) { encode_words(words, ids); };
    const auto on_text = [&](std::string_view stretch) {
      normalized_added_.split(normal(stretch, buffer), with_special_tokens, on_words, on_token);
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
  void add_words(const std::unordered_map<std::string, std::int32_t>& vocabulary, bool are_whole) {
    std::vector<std::int32_t> ids;
    for (const auto& [bytes, id] : vocabulary) {
      ids.clear();
      if (!are_whole) merge_word(bytes, ids);
      if (are_whole || ids.size() == 1) words_.emplace(bytes_[static_cast<std::size_t>(id)], id);
    }
  }

  std::string_view normal(std::string_view text, std::string& buffer) const {
    return composes_ ? to_nfc(text, buffer) : text;
  }

  void add_token(const AddedToken& token) {
    std::string buffer;
    AddedToken searched = token;
    searched.content = token.normalized ? std::string(normal(token.content, buffer)) : token.content;
    (token.normalized ? normalized_added_ : added_).add(std::move(searched));
    added_ids_[token.content] = token.id;
    special_[static_cast<std::size_t>(token.id)] = token.special;
  }

  void encode_words(std::string_view text, std::vector<std::int32_t>& ids) const {
    if (!parts_digits_) return encode_stretch(text, ids);
    for (std::size_t start = 0, end = 0; start < text.size(); start = end) {
      end = stretch_between_digits_end(text, start);
      encode_stretch(text.substr(start, end - start), ids);
    }
  }

  void encode_stretch(std::string_view text, std::vector<std::int32_t>& ids) const {
    for (std::size_t start = 0, end = 0; start < text.size(); start = end) {
      end = word_end(text, start, split_);
      const std::string_view word = text.substr(start, end - start);
      if (const auto found = words_.find(word); found != words_.end())
        ids.push_back(found->second);
      else
        merge_word(word, ids);
    }
  }

  void merge_word(std::string_view word, std::vector<std::int32_t>& ids) const {
    std::vector<std::int32_t> symbols;
    for (const char byte : word)
      if (const std::int32_t id = byte_ids_[static_cast<unsigned char>(byte)]; id != kNoToken) symbols.push_back(id);
    WordMerger(table_, symbols).run();
    ids.insert(ids.end(), symbols.begin(), symbols.end());
  }

  std::string json_;
  std::vector<std::string> bytes_;
  MergeTable table_;
  const WordSplit split_;
  const bool composes_, parts_digits_;
  std::array<std::int32_t, 256> byte_ids_{};
  std::unordered_map<std::string_view, std::int32_t> words_;  // keys are views of bytes_
  std::unordered_map<std::string, std::int32_t> added_ids_;
  std::vector<bool> special_;
  AddedTokens added_, normalized_added_;
};

}  // namespace

std::unique_ptr<Tokenizer> Tokenizer::parse(std::string_view tokenizer_json, const std::string& source) {
  return std::make_unique<BpeTokenizer>(std::string(tokenizer_json), read_tokenizer_file(tokenizer_json, source));
}

}  // namespace agon::agents
