#include "agents/hub/tokenizer/tokenizer.h"

#include <array>

#include "agents/hub/tokenizer/bpe_tokenizer.h"
#include "agents/hub/tokenizer/pretokenize.h"
#include "agents/hub/tokenizer/sentencepiece_tokenizer.h"
#include "agents/hub/tokenizer/tokenizer_file.h"
#include "agents/hub/tokenizer/tokenizer_parts.h"

namespace agon::agents {
namespace {

constexpr std::int32_t kNoToken = -1;

class ByteLevelTokenizer final : public BpeTokenizer {
 public:
  ByteLevelTokenizer(std::function<std::string()> json, TokenizerFile file)
      : BpeTokenizer(std::move(json), file),
        split_(file.split),
        composes_(file.composes),
        parts_digits_(file.parts_digits) {
    for (int byte = 0; byte < 256; ++byte)
      byte_ids_[static_cast<std::size_t>(byte)] =
          id_of_word(std::string(1, static_cast<char>(byte))).value_or(kNoToken);
    finish(file);
  }

 private:
  std::string_view normal(std::string_view text, TextPlace, std::string& buffer) const override {
    return composes_ ? to_nfc(text, buffer) : text;
  }

  void append_text(std::string_view text, TextPlace, std::vector<std::int32_t>& ids) const override {
    if (!parts_digits_) return append_stretch(text, ids);
    for (std::size_t start = 0, end = 0; start < text.size(); start = end) {
      end = stretch_between_digits_end(text, start);
      append_stretch(text.substr(start, end - start), ids);
    }
  }

  void append_stretch(std::string_view text, std::vector<std::int32_t>& ids) const {
    for (std::size_t start = 0, end = 0; start < text.size(); start = end) {
      end = word_end(text, start, split_);
      append_word(text.substr(start, end - start), ids);
    }
  }

  void append_symbols(std::string_view word, std::vector<std::int32_t>& symbols) const override {
    for (const char byte : word)
      if (const std::int32_t id = byte_ids_[static_cast<unsigned char>(byte)]; id != kNoToken) symbols.push_back(id);
  }

  const WordSplit split_;
  const bool composes_, parts_digits_;
  std::array<std::int32_t, 256> byte_ids_{};
};

}  // namespace

std::unique_ptr<Tokenizer> Tokenizer::parse(std::string_view tokenizer_json, const std::string& source) {
  return make(
      read_tokenizer_parts(tokenizer_json, source), [text = std::string(tokenizer_json)] { return text; }, source);
}

std::unique_ptr<Tokenizer> Tokenizer::make(const TokenizerParts& parts, std::function<std::string()> json,
                                           const std::string& source) {
  TokenizerFile file = read_tokenizer_file(parts, source);
  if (file.blanks) return make_sentencepiece_tokenizer(std::move(json), std::move(file));
  return std::make_unique<ByteLevelTokenizer>(std::move(json), std::move(file));
}

}  // namespace agon::agents
