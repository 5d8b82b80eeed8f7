#include "agents/local/prompt_cache.h"

#include <algorithm>

namespace agon::agents {
namespace {

std::vector<ImageGrid> grids_of(const EncodedPrompt& prompt) {
  std::vector<ImageGrid> grids;
  for (const auto& image : prompt.images) grids.push_back(image->grid);
  return grids;
}

std::int64_t bytes_of(const ImageEmbeddings& embeddings) {
  return static_cast<std::int64_t>(embeddings->size() * sizeof(float));
}

}  // namespace

PromptKey key_of(const EncodedPrompt& prompt) {
  PromptKey key{prompt.ids, {}};
  for (const auto& image : prompt.images) key.images.push_back(image->hash);
  return key;
}

CachedPrompt::CachedPrompt(const EncodedPrompt& prompt, const ModelConfig& config, PagePool& pages,
                           std::int64_t promised_pages)
    : ids(prompt.ids),
      positions(mrope_positions(prompt.ids, grids_of(prompt), config, &next_position)),
      keys(pages, promised_pages),
      images(prompt.images) {}

std::shared_ptr<CachedPrompt> PromptCache::find(const PromptKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++clock_;
  return found->second.prompt;
}

void PromptCache::add(PromptKey key, std::shared_ptr<CachedPrompt> prompt) {
  shrink();
  entries_[std::move(key)] = {std::move(prompt), ++clock_};
}

// Longest unused first.
void PromptCache::shrink() {
  std::int64_t pages = 0;
  std::vector<decltype(entries_)::iterator> idle;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    pages += PagePool::pages_for(entry->second.prompt->tokens());
    if (entry->second.prompt.use_count() == 1) idle.push_back(entry);
  }
  if (pages <= idle_pages_) return;
  std::sort(idle.begin(), idle.end(), [](auto a, auto b) { return a->second.used < b->second.used; });
  for (const auto& entry : idle) {
    if (pages <= idle_pages_) return;
    pages -= PagePool::pages_for(entry->second.prompt->tokens());
    entries_.erase(entry);
  }
}

void PromptCache::drop_idle() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.prompt.use_count() == 1; });
}

ImageEmbeddings ImageCache::find(const Hash128& image) {
  const auto found = entries_.find(image);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++clock_;
  return found->second.embeddings;
}

void ImageCache::add(const Hash128& image, ImageEmbeddings embeddings) {
  held_ += bytes_of(embeddings);
  entries_[image] = {std::move(embeddings), ++clock_};
  while (held_ > bytes_ && entries_.size() > 1) {
    const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    held_ -= bytes_of(oldest->second.embeddings);
    entries_.erase(oldest);
  }
}

void ImageCache::clear() {
  entries_.clear();
  held_ = 0;
}

}  // namespace agon::agents
