#include "agents/hub/tokenizer/bpe_tokenizer.h"

#include <algorithm>

namespace agon::agents {

BpeTokenizer::BpeTokenizer(std::function<std::string()> json, TokenizerFile& file)
    : json_(std::move(json)),
      bytes_(std::move(file.bytes)),
      merges_(file.merges),
      words_(std::move(file.vocabulary)),
      words_are_whole_(file.words_are_whole),
      whole_(std::make_unique<std::atomic<Whole>[]>(bytes_.size())),
      special_(bytes_.size()),
      dropped_blanks_(file.dropped_blanks) {}

void BpeTokenizer::finish(const TokenizerFile& file) {
  for (const AddedToken& token : file.added) add_token(token);
}

void BpeTokenizer::add_token(const AddedToken& token) {
  std::string buffer;
  AddedToken searched = token;
  if (token.normalized) searched.content = normal(token.content, TextPlace::start, buffer);
  (token.normalized ? normalized_added_ : added_).add(std::move(searched));
  added_ids_[token.content] = token.id;
  special_[static_cast<std::size_t>(token.id)] = token.special;
}

std::vector<std::int32_t> BpeTokenizer::encode(std::string_view text, bool with_special_tokens, TextPlace place) const {
  std::vector<std::int32_t> ids;
  std::string buffer;
  const auto on_token = [&](std::int32_t id) {
    ids.push_back(id);
    place = TextPlace::after_token;
  };
  const auto on_text = [&](std::string_view stretch) { append_text(stretch, place, ids); };
  const auto on_stretch = [&](std::string_view stretch) {
    normalized_added_.split(normal(stretch, place, buffer), with_special_tokens, on_text, on_token);
  };
  added_.split(text, with_special_tokens, on_stretch, on_token);
  return ids;
}

std::string BpeTokenizer::decode(std::span<const std::int32_t> ids, bool skip_special, TextPlace place) const {
  std::string text;
  for (const std::int32_t id : ids)
    if (!skip_special || !is_special(id)) text += token_bytes(id);
  const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
  if (place == TextPlace::start) text.erase(0, std::min(blanks, dropped_blanks_));
  return text;
}

std::optional<std::int32_t> BpeTokenizer::id_of(std::string_view added_token) const {
  const auto found = added_ids_.find(std::string(added_token));
  return found == added_ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int32_t> BpeTokenizer::id_of_word(std::string_view word) const {
  const auto found = words_.find(word);
  return found == words_.end() ? std::nullopt : std::optional(found->second);
}

void BpeTokenizer::append_word(std::string_view word, std::vector<std::int32_t>& ids) const {
  const auto id = id_of_word(word);
  if (id && (words_are_whole_ || merges_to(word, *id)))
    ids.push_back(*id);
  else
    append_merged(word, ids);
}

// Threads that try the same word at once get the same result.
bool BpeTokenizer::merges_to(std::string_view word, std::int32_t id) const {
  std::atomic<Whole>& known = whole_[static_cast<std::size_t>(id)];
  if (const Whole whole = known.load(std::memory_order_relaxed); whole != Whole::unknown) return whole == Whole::yes;
  std::vector<std::int32_t> ids;
  append_merged(word, ids);
  const bool does = ids == std::vector{id};
  known.store(does ? Whole::yes : Whole::no, std::memory_order_relaxed);
  return does;
}

void BpeTokenizer::append_merged(std::string_view word, std::vector<std::int32_t>& ids) const {
  std::vector<std::int32_t> symbols;
  append_symbols(word, symbols);
  merges_.merge_all(symbols);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
}

}  // namespace agon::agents
