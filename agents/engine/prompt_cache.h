// agents/engine/prompt_cache.h - prompts that the decoder has read, with their keys and values, and the embeddings of
// pictures, so that equal ones, and the equal starts of others, are computed once. Belongs to the engine's thread.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "agents/engine/key_value_cache.h"
#include "agents/hub/prompt.h"
#include "agents/hub/recently_used.h"

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

  KeyValues keys;  // first: what the others throw gives its pages back
  std::vector<std::int32_t> ids;
  std::int32_t next_position = 0;  // of the first token after the prompt, on all axes; before `positions`, which set it
  std::vector<std::array<std::int32_t, 3>> positions;
  // Until the prompt is read; of the pictures, those that do not lie in the shared start as a whole:
  SharedStart start;
  std::vector<std::shared_ptr<const PatchedImage>> images;
  std::vector<ImageEmbeddings> embeddings;
  std::int64_t image_tokens_shared = 0;  // of the first of them
  // Once it is read: the state of its last token, [hidden_size].
  std::vector<float> last_hidden;
  // Or why it could not be read; or that the one whose start it shares could not, so that it has to be made again.
  std::exception_ptr failure;
  bool start_failed = false;
};

class PromptCache {
 public:
  explicit PromptCache(std::int64_t idle_pages) : idle_pages_(idle_pages) {}
  std::shared_ptr<CachedPrompt> find(const PromptKey& key);  // null: not there
  // The longest that there is. Of a prompt that is not read yet only where that saves at least half of the new one,
  // which then waits for it; nothing waits for one that waits.
  SharedStart longest_start(const PromptKey& key);
  void add(PromptKey key, std::shared_ptr<CachedPrompt> prompt);  // REQUIRES: no prompt of that key is there
  void drop_idle();                                               // every prompt that no sequence uses
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
  template <typename Goes>
  void drop_if(const Goes& goes);
  std::int64_t idle_pages_;  // prompts in no use stay while all together are within this
  std::int64_t pages_ = 0;   // of all entries, shared ones once
  Entries entries_;          // in the order of their keys: beside a key stand those that start most like it
  Order order_;              // the longest unused first
};

class ImageCache {
 public:
  explicit ImageCache(std::int64_t bytes) : images_(bytes) {}
  ImageEmbeddings find(const Hash128& image) { return images_.find(image); }  // null: not there
  void add(const Hash128& image, ImageEmbeddings embeddings);                 // may drop those longest unused
  void clear() { images_.clear(); }

 private:
  RecentlyUsed<std::vector<float>> images_;
};

}  // namespace agon::agents
