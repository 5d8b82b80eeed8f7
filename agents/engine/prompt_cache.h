// agents/engine/prompt_cache.h - caches of prompts (their keys and values) and of picture embeddings, so that equal
// prompts, equal starts of prompts, and equal pictures are computed once. Used by the engine's thread only.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "agents/engine/adapter.h"
#include "agents/engine/key_value_cache.h"
#include "agents/hub/prompt.h"
#include "core/recently_used.h"

namespace agon::agents {

using ImageEmbeddings = std::shared_ptr<const std::vector<float>>;  // as encode_image returns them

// Identifies a prompt token by token: by the id, or for an image token by its picture. Each element also depends on the
// adapter that reads the prompt, so that prompts with different adapters share nothing.
using PromptKey = std::vector<Hash128>;
// adapter: the one that reads the prompt, or null. REQUIRES: as many image tokens as the pictures need.
PromptKey key_of(const EncodedPrompt& prompt, const ModelConfig& config, const EngineAdapter* adapter = nullptr);
// Identifies the embeddings of a picture, which depend on the adapter if it adapts the vision tower.
Hash128 image_key(const PatchedImage& image, const EngineAdapter* adapter);

struct CachedPrompt;

// The tokens at the start of a new prompt that it shares with another one; never all tokens of the new one.
struct SharedStart {
  std::shared_ptr<CachedPrompt> of;  // null: nothing is shared
  std::int64_t tokens = 0;
};

// Number of pages that must be promised for a prompt of `tokens` with that start.
std::int64_t fresh_pages(std::int64_t tokens, const SharedStart& start);

struct CachedPrompt {
  // Takes all of its fresh pages. REQUIRES: they are promised.
  CachedPrompt(const EncodedPrompt& prompt, const ModelConfig& config, PagePool& pages, const SharedStart& shared = {},
               std::shared_ptr<const EngineAdapter> reader = nullptr);
  std::int64_t tokens() const { return std::ssize(ids); }
  bool is_read() const { return !last_hidden.empty(); }
  bool has_failed() const { return failure || start_failed; }
  // Whether another prompt, whose start it shares, has to be read first.
  bool follows() const { return start.of && !start.of->is_read(); }

  KeyValues keys;  // first member, so that its pages are returned if a later one throws
  std::vector<std::int32_t> ids;
  std::int32_t next_position = 0;  // of the first token after the prompt, on all axes; initialising `positions` sets it
  std::vector<std::array<std::int32_t, 3>> positions;
  // Used until the prompt is read. `images` are the pictures that are not entirely in the shared start.
  SharedStart start;
  std::int64_t tokens_read = 0;  // includes the shared start; a prompt may be read over several steps
  std::vector<std::shared_ptr<const PatchedImage>> images;
  std::vector<ImageEmbeddings> embeddings;  // of `images`; filled before the first piece is read
  std::int64_t image_tokens_shared = 0;     // tokens of the first picture that the shared start holds
  std::shared_ptr<const EngineAdapter> adapter;
  // Set once the prompt is read: the state of its last token, [hidden_size].
  std::vector<float> last_hidden;
  // `failure`: why it could not be read. start_failed: the prompt whose start it shares could not be read, so this one
  // has to be created again.
  std::exception_ptr failure;
  bool start_failed = false;
};

class PromptCache {
 public:
  explicit PromptCache(std::int64_t idle_pages) : idle_pages_(idle_pages) {}
  std::shared_ptr<CachedPrompt> find(const PromptKey& key);  // null: not there
  // The longest start that a cached prompt shares. The start of an unread prompt counts only if it saves at least half
  // of the new one, which then waits for it. No prompt waits for one that itself waits.
  SharedStart longest_start(const PromptKey& key);
  void add(PromptKey key, std::shared_ptr<CachedPrompt> prompt);  // REQUIRES: no prompt of that key is there
  bool drop_oldest();  // drops the least recently used prompt that no sequence uses; false if there is none
  void drop_failed();
  void clear();

 private:
  using Order = std::list<const PromptKey*>;
  struct Entry {
    std::shared_ptr<CachedPrompt> prompt;
    Order::iterator place;
  };
  using Entries = std::map<PromptKey, Entry>;
  void touch(const Entry& entry) { order_.splice(order_.end(), order_, entry.place); }
  void shrink();
  void drop(Entries::iterator entry);
  std::int64_t idle_pages_;  // unused prompts are dropped while the cache holds more pages
  std::int64_t pages_ = 0;   // pages of all entries; shared ones count once
  Entries entries_;          // sorted by key: the neighbours of a key share the longest starts with it
  Order order_;              // least recently used first
};

class ImageCache {
 public:
  explicit ImageCache(std::int64_t bytes) : images_(bytes) {}
  // By image_key.
  ImageEmbeddings find(const Hash128& image) { return images_.find(image); }  // null: not there
  void add(const Hash128& image, ImageEmbeddings embeddings);                 // may drop the least recently used ones
  void clear() { images_.clear(); }

 private:
  RecentlyUsed<std::vector<float>> images_;
};

}  // namespace agon::agents
