// agents/local/prompt_cache.h - prompts that the decoder has read, with their keys and values, and the embeddings of
// pictures, so that equal ones, and the equal starts of others, are computed once. Belongs to the engine's thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "agents/local/key_value_cache.h"
#include "agents/local/prompt.h"

namespace agon::agents {

using ImageEmbeddings = std::shared_ptr<const std::vector<float>>;  // [image tokens, hidden_size]

// What makes two prompts one, token by token: the id, or the picture that the token is of.
using PromptKey = std::vector<Hash128>;
// REQUIRES: as many image tokens as the pictures need.
PromptKey key_of(const EncodedPrompt& prompt, const ModelConfig& config);

struct CachedPrompt;

// The first tokens of a prompt that another starts with too; never all of the new one.
struct SharedStart {
  std::shared_ptr<CachedPrompt> of;  // null: nothing is shared
  std::int64_t tokens = 0;
};

// Of a prompt with that start: those that have to be promised.
std::int64_t fresh_pages(std::int64_t tokens, const SharedStart& start);

struct CachedPrompt {
  // Takes its fresh pages at once; REQUIRES: they are promised.
  CachedPrompt(const EncodedPrompt& prompt, const ModelConfig& config, PagePool& pages, const SharedStart& shared = {});
  std::int64_t tokens() const { return std::ssize(ids); }
  bool is_read() const { return !last_hidden.empty(); }
  // Waits for a prompt that has to be read before it.
  bool follows() const { return start.of && !start.of->is_read(); }

  std::vector<std::int32_t> ids;
  std::int32_t next_position = 0;  // of the first token after the prompt, on all axes; before `positions`, which set it
  std::vector<std::array<std::int32_t, 3>> positions;
  KeyValues keys;
  // Until the prompt is read; of the pictures, those that do not lie in the shared start as a whole:
  SharedStart start;
  std::vector<std::shared_ptr<const PatchedImage>> images;
  std::vector<ImageEmbeddings> embeddings;
  std::int64_t image_tokens_shared = 0;  // of the first of them
  // Once it is read: the state of its last token, [hidden_size].
  std::vector<float> last_hidden;
};

class PromptCache {
 public:
  explicit PromptCache(std::int64_t idle_pages) : idle_pages_(idle_pages) {}
  std::shared_ptr<CachedPrompt> find(const PromptKey& key);  // null: not there
  // The longest that there is. Of a prompt that is not read yet only where that saves at least half of the new one,
  // which then waits for it; nothing waits for one that waits.
  SharedStart longest_start(const PromptKey& key);
  void add(PromptKey key, std::shared_ptr<CachedPrompt> prompt);
  void drop_idle();  // every prompt that no sequence uses
  void clear();

 private:
  struct Entry {
    std::shared_ptr<CachedPrompt> prompt;
    std::uint64_t used;
  };
  using Entries = std::map<PromptKey, Entry>;
  void shrink();
  Entries::iterator erase(Entries::iterator entry);
  std::int64_t idle_pages_;  // prompts in no use stay while all together are within this
  std::int64_t pages_ = 0;   // of all entries, shared ones once
  std::uint64_t clock_ = 0;
  Entries entries_;  // in the order of their keys: beside a key stand those that start most like it
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
