#include "agents/hub/tokenizer/tokenizer_learner.h"

#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agents/hub/tokenizer/pretokenize.h"
#include "core/error.h"
#include "core/json.h"

namespace agon::agents {
namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;

struct Word {
  std::vector<std::int32_t> ids;
  std::int64_t count = 0;
};

// The words of the texts with their counts, in byte order. Added tokens separate words.
std::vector<Word> count_words(std::span<const std::string> texts, const AddedTokens& added) {
  std::map<std::string, std::int64_t, std::less<>> counts;
  std::string buffer;
  const auto count = [&](std::string_view stretch) {
    const std::string_view text = to_nfc(stretch, buffer);
    for (std::size_t start = 0, end = 0; start < text.size(); start = end) {
      end = word_end(text, start);
      ++counts[std::string(text.substr(start, end - start))];
    }
  };
  for (const std::string& text : texts) added.split(text, true, count, [](std::int32_t) {});
  std::vector<Word> words;
  for (const auto& [bytes, occurrences] : counts) {
    words.push_back({{}, occurrences});
    for (char byte : bytes) words.back().ids.push_back(static_cast<unsigned char>(byte));
  }
  return words;
}

class Learner {
 public:
  Learner(std::vector<Word> words, std::size_t vocabulary_size)
      : words_(std::move(words)), size_(vocabulary_size), queue_(Later{tokens_}) {
    for (int byte = 0; byte < 256; ++byte) add_token(std::string(1, static_cast<char>(byte)));
    for (std::size_t i = 0; i < words_.size(); ++i) add_pairs(i, +1);
    push_changed();
  }

  void run() {
    while (tokens_.size() < size_ && !queue_.empty()) {
      const Entry best = queue_.top();
      queue_.pop();
      if (best.count != pairs_[best.pair].count) continue;  // an outdated entry
      if (best.count < 2) break;
      merge(best.pair);
    }
  }
  const std::vector<std::string>& tokens() const { return tokens_; }  // the bytes of each id
  const std::vector<Pair>& merges() const { return merges_; }

 private:
  struct PairState {
    std::int64_t count = 0;
    std::set<std::size_t> words;  // words that hold the pair, or once held it
  };
  struct Entry {
    std::int64_t count;
    Pair pair;
  };
  struct Later {  // the most frequent pair first, ties by the bytes of its left, then of its right token
    const std::vector<std::string>& tokens;
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.count != b.count) return a.count < b.count;
      return bytes(a) > bytes(b);
    }
    std::pair<const std::string&, const std::string&> bytes(const Entry& entry) const {
      return {tokens[static_cast<std::size_t>(entry.pair.first)], tokens[static_cast<std::size_t>(entry.pair.second)]};
    }
  };

  std::int32_t add_token(const std::string& bytes) {
    const auto [place, is_new] = ids_.emplace(bytes, static_cast<std::int32_t>(tokens_.size()));
    if (is_new) tokens_.push_back(bytes);
    return place->second;
  }

  void add_pairs(std::size_t index, int sign) {
    const Word& word = words_[index];
    for (std::size_t i = 1; i < word.ids.size(); ++i) {
      const Pair pair{word.ids[i - 1], word.ids[i]};
      PairState& state = pairs_[pair];
      state.count += sign * word.count;
      if (sign > 0) state.words.insert(index);
      changed_.insert(pair);
    }
  }

  void push_changed() {
    for (const Pair& pair : changed_)
      if (pairs_[pair].count > 0) queue_.push({pairs_[pair].count, pair});
    changed_.clear();
  }

  void merge(const Pair& pair) {
    const std::int32_t merged =
        add_token(tokens_[static_cast<std::size_t>(pair.first)] + tokens_[static_cast<std::size_t>(pair.second)]);
    merges_.push_back(pair);
    const std::set<std::size_t> holders = std::move(pairs_[pair].words);
    for (std::size_t index : holders) {
      add_pairs(index, -1);
      replace(words_[index].ids, pair, merged);
      add_pairs(index, +1);
    }
    push_changed();
  }

  static void replace(std::vector<std::int32_t>& ids, const Pair& pair, std::int32_t merged) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool found = i + 1 < ids.size() && Pair{ids[i], ids[i + 1]} == pair;
      ids[kept++] = found ? merged : ids[i];
      if (found) ++i;
    }
    ids.resize(kept);
  }

  std::vector<Word> words_;
  std::size_t size_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<Pair> merges_;
  std::map<Pair, PairState> pairs_;
  std::set<Pair> changed_;
  std::priority_queue<Entry, std::vector<Entry>, Later> queue_;
};

std::string symbols_of(const std::string& bytes) {
  std::string symbols;
  for (char byte : bytes) symbols += byte_symbols()[static_cast<unsigned char>(byte)];
  return symbols;
}

Json added_token(std::size_t id, const std::string& content, bool special) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

Json model_json(const Learner& learner) {
  Json vocabulary = Json::object(), merges = Json::array();
  auto& members = vocabulary.get_ref<Json::object_t&>();
  const auto symbols = [&](std::int32_t id) { return symbols_of(learner.tokens()[static_cast<std::size_t>(id)]); };
  for (std::size_t id = 0; id < learner.tokens().size(); ++id)
    members.push_back({symbols(static_cast<std::int32_t>(id)), id});  // a new key: no search for duplicates needed
  for (const auto& [left, right] : learner.merges()) merges.push_back(Json::array({symbols(left), symbols(right)}));
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", ""},
          {"end_of_word_suffix", ""},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", std::move(vocabulary)},
          {"merges", std::move(merges)}};
}

Json pre_tokenizer_json() {
  const Json split = {
      {"type", "Split"}, {"pattern", {{"Regex", kQwen2Regex}}}, {"behavior", "Isolated"}, {"invert", false}};
  const Json bytes = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  return {{"type", "Sequence"}, {"pretokenizers", Json::array({split, bytes})}};
}

}  // namespace

std::string learn_tokenizer(std::span<const std::string> texts, int vocab_size,
                            std::span<const std::string> special_tokens, std::span<const std::string> tag_tokens) {
  const auto added_count = static_cast<int>(special_tokens.size() + tag_tokens.size());
  if (vocab_size < 256 + added_count)
    throw Error("learn_tokenizer: a vocabulary of {} cannot hold 256 bytes and {} added tokens", vocab_size,
                added_count);
  AddedTokens added;
  for (const auto& tokens : {special_tokens, tag_tokens})
    for (const std::string& token : tokens) added.add({.content = token});
  Learner learner(count_words(texts, added), static_cast<std::size_t>(vocab_size - added_count));
  learner.run();

  Json added_tokens = Json::array();
  std::size_t id = learner.tokens().size();
  for (const std::string& token : special_tokens) added_tokens.push_back(added_token(id++, token, true));
  for (const std::string& token : tag_tokens) added_tokens.push_back(added_token(id++, token, false));
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  const Json file = {{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", std::move(added_tokens)},
                     {"normalizer", {{"type", "NFC"}}},
                     {"pre_tokenizer", pre_tokenizer_json()},
                     {"post_processor", byte_level},
                     {"decoder", byte_level},
                     {"model", model_json(learner)}};
  return file.dump(1);
}

}  // namespace agon::agents
