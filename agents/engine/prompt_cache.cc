#include "agents/engine/prompt_cache.h"

#include <algorithm>
#include <utility>

namespace agon::agents {
namespace {

std::vector<ImageGrid> grids_of(const EncodedPrompt& prompt) {
  std::vector<ImageGrid> grids;
  for (const auto& image : prompt.images) grids.push_back(image->grid);
  return grids;
}

std::int64_t tokens_of(const PatchedImage& image, const ModelConfig& config) {
  return image.grid.patches() / (config.vision->spatial_merge_size * config.vision->spatial_merge_size);
}

Hash128 mixed(const Hash128& token, const Hash128& adapter) {
  return {token.high ^ adapter.high, token.low ^ adapter.low};
}

std::int64_t common_tokens(const PromptKey& a, const PromptKey& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

}  // namespace

std::int64_t fresh_pages(std::int64_t tokens, const SharedStart& start) {
  return PagePool::pages_for(tokens) - start.tokens / kernels::kKeyBlock;
}

Hash128 image_key(const PatchedImage& image, const EngineAdapter* adapter) {
  return adapter && adapter->adapts_vision ? mixed(image.hash, adapter->id) : image.hash;
}

PromptKey key_of(const EncodedPrompt& prompt, const ModelConfig& config, const EngineAdapter* adapter) {
  PromptKey key;
  const Hash128 reader = id_of(adapter);
  auto image = prompt.images.begin();
  std::int64_t used = 0;  // tokens of the current image
  for (const std::int32_t id : prompt.ids) {
    if (!config.shows(id)) {
      key.push_back(mixed({0, static_cast<std::uint64_t>(id)}, reader));
      continue;
    }
    key.push_back(mixed((*image)->hash, reader));
    if (++used == tokens_of(**image, config)) ++image, used = 0;
  }
  return key;
}

CachedPrompt::CachedPrompt(const EncodedPrompt& prompt, const ModelConfig& config, PagePool& pages,
                           const SharedStart& shared, std::shared_ptr<const EngineAdapter> reader)
    : keys(pages, fresh_pages(std::ssize(prompt.ids), shared)),
      ids(prompt.ids),
      positions(mrope_positions(prompt.ids, grids_of(prompt), config, &next_position)),
      start(shared),
      tokens_read(shared.tokens),
      images(prompt.images),
      adapter(std::move(reader)) {
  if (start.of) keys.share(start.of->keys, start.tokens);
  keys.require(tokens());
  image_tokens_shared =
      std::count_if(ids.begin(), ids.begin() + start.tokens, [&](std::int32_t id) { return config.shows(id); });
  while (!images.empty() && image_tokens_shared >= tokens_of(*images.front(), config)) {
    image_tokens_shared -= tokens_of(*images.front(), config);
    images.erase(images.begin());
  }
}

std::shared_ptr<CachedPrompt> PromptCache::find(const PromptKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  touch(found->second);
  return found->second.prompt;
}

SharedStart PromptCache::longest_start(const PromptKey& key) {
  const auto after = entries_.lower_bound(key);
  auto best = entries_.end();
  std::int64_t common = 0;
  for (auto entry = after == entries_.begin() ? after : std::prev(after); entry != entries_.end(); ++entry) {
    if (const std::int64_t tokens = common_tokens(key, entry->first); tokens > common) {
      common = tokens;
      best = entry;
    }
    if (entry == after) break;
  }
  if (best == entries_.end()) return {};
  touch(best->second);
  SharedStart start{best->second.prompt, std::min(common, std::ssize(key) - 1)};
  if (start.of->follows()) start = {start.of->start.of, std::min(start.tokens, start.of->start.tokens)};
  const bool worth = start.tokens > 0 && (start.of->is_read() || 2 * start.tokens >= std::ssize(key));
  return worth ? start : SharedStart{};
}

void PromptCache::add(PromptKey key, std::shared_ptr<CachedPrompt> prompt) {
  const std::int64_t pages = fresh_pages(prompt->tokens(), prompt->start);
  const auto place = order_.insert(order_.end(), nullptr);
  try {
    *place = &entries_.emplace(std::move(key), Entry{std::move(prompt), place}).first->first;
  } catch (...) {
    order_.erase(place);
    throw;
  }
  shrink();
  pages_ += pages;
}

void PromptCache::clear() {
  order_.clear();
  entries_.clear();
  pages_ = 0;
}

void PromptCache::drop(Entries::iterator entry) {
  pages_ -= entry->second.prompt->keys.pages_alone();
  order_.erase(entry->second.place);
  entries_.erase(entry);
}

// Drops the least recently used prompts first. A prompt in use is moved to the end of the order.
void PromptCache::shrink() {
  for (std::size_t left = order_.size(); left > 0 && pages_ > idle_pages_; --left) {
    const Entries::iterator entry = entries_.find(*order_.front());
    if (entry->second.prompt.use_count() == 1)
      drop(entry);
    else
      touch(entry->second);
  }
}

bool PromptCache::drop_oldest() {
  for (const PromptKey* key : order_) {
    const Entries::iterator entry = entries_.find(*key);
    if (entry->second.prompt.use_count() > 1) continue;
    drop(entry);
    return true;
  }
  return false;
}

void PromptCache::drop_failed() {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->second.prompt->has_failed()) drop(entry);
    entry = next;
  }
}

void ImageCache::add(const Hash128& image, ImageEmbeddings embeddings) {
  const auto bytes = static_cast<std::int64_t>(embeddings->size() * sizeof(float));
  images_.add(image, std::move(embeddings), bytes);
}

}  // namespace agon::agents
