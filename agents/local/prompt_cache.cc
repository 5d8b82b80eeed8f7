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

std::int64_t tokens_of(const PatchedImage& image, const ModelConfig& config) {
  return image.grid.patches() / (config.vision.spatial_merge_size * config.vision.spatial_merge_size);
}

std::int64_t common_tokens(const PromptKey& a, const PromptKey& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

}  // namespace

std::int64_t fresh_pages(std::int64_t tokens, const SharedStart& start) {
  return PagePool::pages_for(tokens) - start.tokens / kernels::kKeyBlock;
}

PromptKey key_of(const EncodedPrompt& prompt, const ModelConfig& config) {
  PromptKey key;
  auto image = prompt.images.begin();
  std::int64_t used = 0;  // tokens of that image
  for (const std::int32_t id : prompt.ids) {
    if (id != config.image_token_id) {
      key.push_back({0, static_cast<std::uint64_t>(id)});
      continue;
    }
    key.push_back((*image)->hash);
    if (++used == tokens_of(**image, config)) ++image, used = 0;
  }
  return key;
}

CachedPrompt::CachedPrompt(const EncodedPrompt& prompt, const ModelConfig& config, PagePool& pages,
                           const SharedStart& shared)
    : ids(prompt.ids),
      positions(mrope_positions(prompt.ids, grids_of(prompt), config, &next_position)),
      keys(pages, fresh_pages(tokens(), shared)),
      start(shared),
      images(prompt.images) {
  if (start.of) keys.share(start.of->keys, start.tokens);
  keys.require(tokens());
  image_tokens_shared = std::count(ids.begin(), ids.begin() + start.tokens, config.image_token_id);
  while (!images.empty() && image_tokens_shared >= tokens_of(*images.front(), config)) {
    image_tokens_shared -= tokens_of(*images.front(), config);
    images.erase(images.begin());
  }
}

std::shared_ptr<CachedPrompt> PromptCache::find(const PromptKey& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++clock_;
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
  best->second.used = ++clock_;
  const CachedPrompt& of = *best->second.prompt;
  if (of.follows()) common = std::min(common, of.start.tokens / kernels::kKeyBlock * kernels::kKeyBlock);
  common = std::min(common, std::ssize(key) - 1);
  const bool worth = common > 0 && (of.is_read() || 2 * common >= std::ssize(key));
  return worth ? SharedStart{best->second.prompt, common} : SharedStart{};
}

void PromptCache::add(PromptKey key, std::shared_ptr<CachedPrompt> prompt) {
  shrink();
  pages_ += fresh_pages(prompt->tokens(), prompt->start);
  entries_[std::move(key)] = {std::move(prompt), ++clock_};
}

void PromptCache::clear() {
  entries_.clear();
  pages_ = 0;
}

PromptCache::Entries::iterator PromptCache::erase(Entries::iterator entry) {
  pages_ -= entry->second.prompt->keys.pages_alone();
  return entries_.erase(entry);
}

// Longest unused first.
void PromptCache::shrink() {
  if (pages_ <= idle_pages_) return;
  std::vector<Entries::iterator> idle;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
    if (entry->second.prompt.use_count() == 1) idle.push_back(entry);
  std::sort(idle.begin(), idle.end(), [](auto a, auto b) { return a->second.used < b->second.used; });
  for (const auto& entry : idle) {
    if (pages_ <= idle_pages_) return;
    erase(entry);
  }
}

void PromptCache::drop_idle() {
  for (auto entry = entries_.begin(); entry != entries_.end();)
    entry = entry->second.prompt.use_count() == 1 ? erase(entry) : std::next(entry);
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
