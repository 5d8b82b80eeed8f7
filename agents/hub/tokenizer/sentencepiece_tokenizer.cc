#include "agents/hub/tokenizer/sentencepiece_tokenizer.h"

#include <algorithm>
#include <array>

#include "agents/hub/tokenizer/bpe_tokenizer.h"
#include "core/text.h"

namespace agon::agents {
namespace {

// The end of the word that begins at `start`: before the marks of the next word.
std::size_t marked_word_end(std::string_view text, std::size_t start) {
  while (text.substr(start).starts_with(kBlankMark)) start += kBlankMark.size();
  return std::min(text.find(kBlankMark, start), text.size());
}

class SentencePieceTokenizer final : public BpeTokenizer {
 public:
  SentencePieceTokenizer(std::function<std::string()> json, TokenizerFile file)
      : BpeTokenizer(std::move(json), file), blanks_(*file.blanks) {
    for (int byte = 0; blanks_.falls_back_to_bytes && byte < 256; ++byte)
      byte_ids_[static_cast<std::size_t>(byte)] = *id_of_word(byte_token(byte));
    finish(file);
  }

 private:
  std::string_view normal(std::string_view text, TextPlace place, std::string& buffer) const override {
    return blanks_.in_normalizer ? marked(text, place, buffer) : text;
  }

  void append_text(std::string_view text, TextPlace place, std::vector<std::int32_t>& ids) const override {
    std::string buffer;
    if (!blanks_.in_normalizer) text = marked(text, place, buffer);
    if (!blanks_.begin_words) return append_word(text, ids);
    for (std::size_t start = 0, end = 0; start < text.size(); start = end) {
      end = marked_word_end(text, start);
      append_word(text.substr(start, end - start), ids);
    }
  }

  void append_symbols(std::string_view word, std::vector<std::int32_t>& symbols) const override {
    bool was_unknown = false;
    for_each_character(word, [&](std::int32_t, std::string_view character) {
      const auto id = id_of_word(character);
      if (id)
        symbols.push_back(*id);
      else if (blanks_.falls_back_to_bytes)
        for (const char byte : character) symbols.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
      else if (blanks_.unknown && !(was_unknown && blanks_.fuses_unknown))
        symbols.push_back(*blanks_.unknown);
      was_unknown = !id;
    });
  }

  std::string_view marked(std::string_view text, TextPlace place, std::string& buffer) const {
    buffer = has_blank_before(text, place) ? kBlankMark : "";
    for (const char byte : text) buffer += byte == ' ' ? kBlankMark : std::string_view(&byte, 1);
    return buffer;
  }

  bool has_blank_before(std::string_view text, TextPlace place) const {
    if (place == TextPlace::within) return false;
    const bool has_own = text.starts_with(' ') || text.starts_with(kBlankMark);
    switch (blanks_.before) {
      case BlankBefore::every_text:
        return true;
      case BlankBefore::text_without:
        return !has_own;
      case BlankBefore::first_without:
        return !has_own && place == TextPlace::start;
      default:
        return false;
    }
  }

  const MarkedBlanks blanks_;
  std::array<std::int32_t, 256> byte_ids_{};
};

}  // namespace

std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(std::function<std::string()> json, TokenizerFile file) {
  return std::make_unique<SentencePieceTokenizer>(std::move(json), std::move(file));
}

}  // namespace agon::agents
