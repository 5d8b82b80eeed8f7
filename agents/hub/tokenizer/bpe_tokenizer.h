// agents/hub/tokenizer/bpe_tokenizer.h - the base class of BPE tokenizers: it cuts added tokens out of a text, merges
// the symbols of each word by rank, and turns ids into bytes. Derived classes define how text is prepared, where words
// end, and which symbols they have.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agents/hub/tokenizer/merge_table.h"
#include "agents/hub/tokenizer/pretokenize.h"
#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/hub/tokenizer/tokenizer_file.h"

namespace agon::agents {

class BpeTokenizer : public Tokenizer {
 public:
  std::vector<std::int32_t> encode(std::string_view text, bool with_special_tokens, TextPlace place) const final;
  std::string decode(std::span<const std::int32_t> ids, bool skip_special, TextPlace place) const final;
  std::string token_bytes(std::int32_t id) const final {
    return has_token(id) ? bytes_[static_cast<std::size_t>(id)] : std::string();
  }
  std::optional<std::int32_t> id_of(std::string_view added_token) const final;
  bool is_special(std::int32_t id) const final { return has_token(id) && special_[static_cast<std::size_t>(id)]; }
  int vocab_size() const final { return static_cast<int>(bytes_.size()); }
  std::string json() const final { return json_(); }

 protected:
  // Moves bytes and vocabulary out of `file`.
  BpeTokenizer(std::function<std::string()> json, TokenizerFile& file);
  // The constructor of a derived class calls this last, when the three functions below work.
  void finish(const TokenizerFile& file);

  // The text in which added tokens marked "normalized" are searched for: `text` itself, or a view of `buffer`.
  virtual std::string_view normal(std::string_view text, TextPlace place, std::string& buffer) const = 0;
  // Adds the ids of a text without added tokens: append_word() for each of its words.
  virtual void append_text(std::string_view text, TextPlace place, std::vector<std::int32_t>& ids) const = 0;
  // Adds the symbols of a word, which are then merged into tokens.
  virtual void append_symbols(std::string_view word, std::vector<std::int32_t>& symbols) const = 0;

  void append_word(std::string_view word, std::vector<std::int32_t>& ids) const;
  std::optional<std::int32_t> id_of_word(std::string_view word) const;  // id of a token that is a word or a symbol

 private:
  bool has_token(std::int32_t id) const { return id >= 0 && id < vocab_size(); }
  void add_token(const AddedToken& token);
  void append_merged(std::string_view word, std::vector<std::int32_t>& ids) const;
  bool merges_to(std::string_view word, std::int32_t id) const;

  std::function<std::string()> json_;
  std::vector<std::string> bytes_;
  MergeTable merges_;
  TokenIds words_;  // a word in it may be looked up whole only if its merges lead to its token
  bool words_are_whole_;
  enum class Whole : std::uint8_t { unknown, yes, no };
  std::unique_ptr<std::atomic<Whole>[]> whole_;  // of each id: whether its word merges to it, once tried
  std::unordered_map<std::string, std::int32_t> added_ids_;
  std::vector<bool> special_;
  AddedTokens added_, normalized_added_;
  std::size_t dropped_blanks_;
};

}  // namespace agon::agents
