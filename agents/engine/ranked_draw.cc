#include "agents/engine/ranked_draw.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernels/multiversion.h"

namespace agon::agents {
namespace {

constexpr int kBuckets = 4096;
constexpr float kBucketsPerNat = 32;  // at least; ids more than 128 nats below the largest logit have weight 0

constexpr std::uint16_t kNone = kBuckets;  // of an id that is not allowed
constexpr std::size_t kStretch = 64;       // ids examined together

using Entry = RankedDrawScratch::Entry;

// Whether one of the next kStretch entries is `bucket`.
bool holds(const std::uint16_t* buckets, int bucket) {
  std::uint16_t found = 0;
  for (std::size_t i = 0; i < kStretch; ++i) found |= static_cast<std::uint16_t>(buckets[i] == bucket);
  return found != 0;
}

// Lower logits get higher buckets. -inf and overflows are in the last one.
AGON_MULTIVERSION void find_buckets(const float* logits, std::int64_t count, float max, float scale,
                                    std::uint16_t* buckets) {
  constexpr float kLast = kBuckets - 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const float place = (max - logits[i]) * scale;
    buckets[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(place < kLast ? place : kLast));
  }
}

AGON_MULTIVERSION float smallest_of(const float* logits, std::int64_t count) {
  constexpr int kLanes = 16;
  float smallest = logits[0], lanes[kLanes];
  std::fill_n(lanes, kLanes, smallest);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      lanes[lane] = logits[i + lane] < lanes[lane] ? logits[i + lane] : lanes[lane];
  for (; i < count; ++i) smallest = std::min(smallest, logits[i]);
  for (const float lane : lanes) smallest = std::min(smallest, lane);
  return smallest;
}

// Buckets per unit of logit, chosen so that logits in a narrow range also spread over all buckets.
float scale_of(std::span<const float> logits, float max, float inverse_temperature) {
  const float range = max - smallest_of(logits.data(), std::ssize(logits));
  const float fine = (kBuckets - 1) / range, coarse = inverse_temperature * kBucketsPerNat;
  return std::isfinite(fine) ? std::max(fine, coarse) : coarse;
}

// Maps floats to integers in reverse order; -0 equals 0.
std::uint32_t falling_key(float logit) {
  const auto bits = std::bit_cast<std::uint32_t>(logit + 0.0F);
  return (bits & 0x80000000U) != 0 ? bits : ~bits & 0x7fffffffU;
}

constexpr int kDigitBits = 11, kDigits = 1 << kDigitBits;

// One pass of a radix sort: stable, by one digit of the keys.
void sort_by_digit(int shift, std::vector<Entry>& entries, std::vector<Entry>& other) {
  const auto digit = [&](const Entry& entry) { return (entry.key >> shift) & (kDigits - 1); };
  std::array<std::uint32_t, kDigits> places{};
  for (const Entry& entry : entries) ++places[digit(entry)];
  std::uint32_t place = 0;
  for (std::uint32_t& begin : places) {
    const std::uint32_t count = begin;
    begin = place;
    place += count;
  }
  other.resize(entries.size());
  for (const Entry& entry : entries) other[places[digit(entry)]++] = entry;
  entries.swap(other);
}

}  // namespace

RankedDraw::RankedDraw(std::span<const float> logits, std::span<const float> weights,
                       std::span<const std::int32_t> allowed, float max, float inverse_temperature,
                       RankedDrawScratch& scratch)
    : logits_(logits),
      weights_(weights),
      max_(max),
      inverse_temperature_(inverse_temperature),
      scale_(scale_of(logits, max, inverse_temperature)),
      scratch_(scratch),
      cut_{kBuckets, 0} {
  scratch_.buckets.resize(logits.size());
  scratch_.mass.assign(kBuckets, 0);
  scratch_.count.assign(kBuckets, 0);
  find_buckets(logits.data(), std::ssize(logits), max, scale_, scratch_.buckets.data());
  scratch_.allowed_buckets.assign((logits.size() + kStretch - 1) / kStretch * kStretch, kNone);
  for (const std::int32_t id : allowed) {
    const std::uint16_t bucket = scratch_.buckets[static_cast<std::size_t>(id)];
    scratch_.allowed_buckets[static_cast<std::size_t>(id)] = bucket;
    scratch_.mass[bucket] += static_cast<double>(weights_[static_cast<std::size_t>(id)]);
    ++scratch_.count[bucket];
  }
}

double RankedDraw::weight(const Entry& entry) const {
  return static_cast<double>(weights_[static_cast<std::size_t>(entry.id)]);
}

void RankedDraw::sort(int bucket) {
  if (sorted_ == bucket) return;
  std::vector<Entry>& entries = scratch_.sorted;
  entries.clear();
  const std::uint16_t* buckets = scratch_.allowed_buckets.data();
  for (std::size_t first = 0; first < scratch_.allowed_buckets.size(); first += kStretch) {
    if (!holds(buckets + first, bucket)) continue;
    for (std::size_t id = first; id < first + kStretch; ++id)
      if (buckets[id] == bucket) entries.push_back({falling_key(logits_[id]), static_cast<std::int32_t>(id)});
  }
  sorted_ = bucket;
  if (entries.size() < kDigits / 4) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.id < b.id; });
    return;
  }
  std::uint32_t differing = 0;  // bits in which the keys differ
  for (const Entry& entry : entries) differing |= entry.key ^ entries.front().key;
  for (int shift = 0; shift < 32; shift += kDigitBits)
    if ((differing >> shift & (kDigits - 1)) != 0) sort_by_digit(shift, entries, scratch_.other);
}

// The remaining ids of a bucket, sorted.
std::span<const Entry> RankedDraw::kept_of(int bucket) {
  sort(bucket);
  const std::span<const Entry> all = scratch_.sorted;
  return bucket < cut_.bucket ? all : all.first(static_cast<std::size_t>(cut_.within));
}

double RankedDraw::kept_mass(int bucket) {
  if (bucket < cut_.bucket) return scratch_.mass[static_cast<std::size_t>(bucket)];
  double mass = 0;
  if (bucket == cut_.bucket && cut_.within > 0)
    for (const Entry& entry : kept_of(bucket)) mass += weight(entry);
  return mass;
}

void RankedDraw::keep_first(std::int64_t count) {
  for (int bucket = 0; bucket < cut_.bucket; ++bucket) {
    const std::int64_t here = scratch_.count[static_cast<std::size_t>(bucket)];
    if (count < here) {
      cut_ = {bucket, count};
      return;
    }
    count -= here;
  }
  if (cut_.bucket < kBuckets) cut_.within = std::min(cut_.within, count);
}

void RankedDraw::keep_mass(double share) {
  double mass = 0, reached = 0;
  const int end = std::min(kBuckets, cut_.bucket + 1);
  for (int bucket = 0; bucket < end; ++bucket) mass += kept_mass(bucket);
  const double goal = share * mass;
  for (int bucket = 0; bucket < end; ++bucket) {
    const double here = kept_mass(bucket);
    if (here > 0 && reached + here >= goal) {
      std::int64_t within = 0;
      for (const Entry& entry : kept_of(bucket)) {
        ++within;
        if ((reached += weight(entry)) >= goal) break;
      }
      cut_ = {bucket, within};
      return;
    }
    reached += here;
  }
}

void RankedDraw::keep_likely(double share) {
  const auto least =
      static_cast<float>(static_cast<double>(max_) + std::log(share) / static_cast<double>(inverse_temperature_));
  std::uint16_t found = 0;
  find_buckets(&least, 1, max_, scale_, &found);
  const int bucket = found;
  if (bucket > cut_.bucket) return;
  std::int64_t within = 0;
  for (const Entry& entry : kept_of(bucket)) within += logits_[static_cast<std::size_t>(entry.id)] >= least ? 1 : 0;
  cut_ = {bucket, within};
}

std::int32_t RankedDraw::draw(double uniform) {
  double mass = 0;
  int last = -1;  // last bucket with weight
  for (int bucket = 0; bucket < std::min(kBuckets, cut_.bucket + 1); ++bucket)
    if (const double here = kept_mass(bucket); here > 0) mass += here, last = bucket;
  if (last < 0) return -1;
  double left = uniform * mass;
  int bucket = 0;
  for (; bucket < last && left >= kept_mass(bucket); ++bucket) left -= kept_mass(bucket);
  std::int32_t chosen = -1;
  for (const Entry& entry : kept_of(bucket)) {
    if (weight(entry) == 0) continue;
    chosen = entry.id;
    if ((left -= weight(entry)) < 0) break;
  }
  return chosen;
}

}  // namespace agon::agents
