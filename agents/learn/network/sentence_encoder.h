// agents/learn/network/sentence_encoder.h - a BERT model that embeds a sentence: texts of similar meaning get vectors
// of similar direction (sentence-transformers' all-MiniLM-L6-v2 and similar models). The vector is the mean of the last
// layer over the tokens, scaled to length 1.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "env/grading/text_similarity.h"

namespace agon::agents {

// Immutable, thread-safe. fp32 on the CPU.
class SentenceEncoder {
 public:
  // Reads config.json, vocab.txt, tokenizer_config.json (do_lower_case), sentence_bert_config.json (max_seq_length, in
  // ids; 256 without the file) and model.safetensors, as on the hub. Throws Error for a model that is not a BERT with
  // gelu and absolute positions, and for weights that do not fit.
  static std::unique_ptr<const SentenceEncoder> load(const std::filesystem::path& folder);
  virtual ~SentenceEncoder() = default;
  // hidden_size numbers; their squares sum to 1.
  virtual std::vector<float> embed(std::string_view text) const = 0;
};

// The cosine of the two texts' vectors. script/checkpoint minilm downloads a folder for it.
std::shared_ptr<const env::TextSimilarity> make_sentence_similarity(const std::filesystem::path& folder);

}  // namespace agon::agents
