#include "tools/search/bm25.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace agon::tools {
namespace {

// Documents are scored window by window, so that the sums of a window stay in the L1 cache.
constexpr std::uint64_t kWindow = 2048;
constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

void put_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

// A posting is a varint: twice the distance from the expected next document, plus 1 if the word occurs there once. If
// it occurs more than once, the count follows.
class PostingsReader {
 public:
  explicit PostingsReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) { next(); }
  std::uint64_t document() const { return document_; }  // kEnd: after the last one
  std::uint32_t count() const { return count_; }

  void next() {
    if (at_ == end_) {
      document_ = kEnd;
      return;
    }
    const std::uint64_t step = varint();
    document_ = expected_ + (step >> 1);
    expected_ = document_ + 1;
    count_ = step & 1 ? 1 : static_cast<std::uint32_t>(varint());
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; at_ != end_ && shift < 35; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  const char *at_, *end_;
  std::uint64_t document_ = kEnd, expected_ = 0;
  std::uint32_t count_ = 0;
};

bool better(const RankedDocument& a, const RankedDocument& b) {
  return a.score != b.score ? a.score > b.score : a.document < b.document;
}

// The best documents so far, with the worst of them on top of the heap.
class Best {
 public:
  explicit Best(std::size_t most) : most_(most) {}
  double threshold() const { return threshold_; }  // a later document must score higher
  void add(RankedDocument document) {
    if (heap_.size() == most_) {
      std::pop_heap(heap_.begin(), heap_.end(), better);
      heap_.pop_back();
    }
    heap_.push_back(document);
    std::push_heap(heap_.begin(), heap_.end(), better);
    if (heap_.size() == most_) threshold_ = heap_.front().score;
  }
  std::vector<RankedDocument> take() {
    std::sort_heap(heap_.begin(), heap_.end(), better);
    return std::move(heap_);
  }

 private:
  std::size_t most_;
  double threshold_ = 0;
  std::vector<RankedDocument> heap_;
};

std::uint64_t first_document(const std::vector<PostingsReader>& readers) {
  std::uint64_t first = kEnd;
  for (const PostingsReader& reader : readers) first = std::min(first, reader.document());
  return first;
}

}  // namespace

void PostingsWriter::add(std::uint32_t document, std::uint32_t count) {
  assert(document >= next_ && count > 0);
  put_varint(bytes_, std::uint64_t{document - next_} << 1 | (count == 1));
  if (count > 1) put_varint(bytes_, count);
  next_ = document + 1;
  ++documents_;
}

void PostingsWriter::clear() {
  bytes_.clear();
  next_ = documents_ = 0;
}

double lucene_idf(std::uint64_t documents, std::uint64_t documents_with_word) {
  const auto all = static_cast<double>(documents), with = static_cast<double>(documents_with_word);
  return std::log1p((all - with + 0.5) / (with + 0.5));
}

std::vector<RankedDocument> rank_bm25(std::span<const QueryWord> words, std::span<const std::uint32_t> lengths,
                                      double mean_length, const Bm25& parameters, std::size_t top_k) {
  assert(top_k > 0);
  const double base = parameters.k1 * (1 - parameters.b), slope = parameters.k1 * parameters.b / mean_length;
  std::vector<PostingsReader> readers;
  for (const QueryWord& word : words) readers.emplace_back(word.postings);
  std::array<double, kWindow> sums{};
  Best best(top_k);
  for (std::uint64_t first; (first = first_document(readers)) < lengths.size();) {
    const std::uint64_t begin = first / kWindow * kWindow,
                        end = std::min<std::uint64_t>(begin + kWindow, lengths.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      PostingsReader reader = readers[i];
      for (; reader.document() < end; reader.next()) {
        const std::uint64_t document = reader.document();
        const double count = reader.count();
        sums[document - begin] += words[i].weight * count / (count + base + slope * lengths[document]);
      }
      readers[i] = reader;
    }
    for (std::uint64_t i = 0; i < end - begin; ++i) {
      if (sums[i] > best.threshold()) best.add({static_cast<std::uint32_t>(begin + i), sums[i]});
      sums[i] = 0;
    }
  }
  return best.take();
}

}  // namespace agon::tools
