// agents/local/prompt_cache.h - prompts that the decoder has read, with their keys and values, and the embeddings of
// pictures, so that equal ones are computed once. Belongs to the engine's thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "agents/local/key_value_cache.h"
#include "agents/local/prompt.h"

namespace agon::agents {

using ImageEmbeddings = std::shared_ptr<const std::vector<float>>;  // [image tokens, hidden_size]

// What makes two prompts one: ids and pictures.
struct PromptKey {
  std::vector<std::int32_t> ids;
  std::vector<Hash128> images;
  auto operator<=>(const PromptKey&) const = default;
};
PromptKey key_of(const EncodedPrompt& prompt);

struct CachedPrompt {
  CachedPrompt(const EncodedPrompt& prompt, const ModelConfig& config, PagePool& pages, std::int64_t promised_pages);
  std::int64_t tokens() const { return std::ssize(ids); }

  std::vector<std::int32_t> ids;
  std::int32_t next_position = 0;  // of the first token after the prompt, on all axes; before `positions`, which set it
  std::vector<std::array<std::int32_t, 3>> positions;
  KeyValues keys;
  // Until the prompt is read:
  std::vector<std::shared_ptr<const PatchedImage>> images;
  std::vector<ImageEmbeddings> embeddings;
  // Once it is read: the state of its last token, [hidden_size].
  std::vector<float> last_hidden;
};

class PromptCache {
 public:
  explicit PromptCache(std::int64_t idle_pages) : idle_pages_(idle_pages) {}
  std::shared_ptr<CachedPrompt> find(const PromptKey& key);  // null: not there
  void add(PromptKey key, std::shared_ptr<CachedPrompt> prompt);
  void drop_idle();  // every prompt that no sequence uses
  void clear() { entries_.clear(); }

 private:
  struct Entry {
    std::shared_ptr<CachedPrompt> prompt;
    std::uint64_t used;
  };
  void shrink();
  std::int64_t idle_pages_;  // prompts in no use stay while all together are within this
  std::uint64_t clock_ = 0;
  std::map<PromptKey, Entry> entries_;
};

class ImageCache {
 public:
  explicit ImageCache(std::int64_t bytes) : bytes_(bytes) {}
  ImageEmbeddings find(const Hash128& image);                  // null: not there
  void add(const Hash128& image, ImageEmbeddings embeddings);  // may drop those longest unused
  void clear();

 private:
  struct Entry {
    ImageEmbeddings embeddings;
    std::uint64_t used;
  };
  std::int64_t bytes_, held_ = 0;
  std::uint64_t clock_ = 0;
  std::map<Hash128, Entry> entries_;
};

}  // namespace agon::agents
