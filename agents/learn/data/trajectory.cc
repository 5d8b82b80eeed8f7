#include "agents/learn/data/trajectory.h"

#include <algorithm>

#include "agents/learn/data/reward.h"
#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // replaces a byte that belongs to no character

// The bytes of a turn's tokens, and where each token begins in them.
struct SpelledTokens {
  std::string bytes;
  std::vector<std::size_t> begins;
};

// A special token has bytes only if `text` shows it: the engine writes a special token sampled within a turn, but not
// the one that ends it.
SpelledTokens spell(std::string_view text, std::span<const std::int32_t> ids, const Tokenizer& tokenizer) {
  SpelledTokens spelled;
  std::size_t shown = 0;
  for (const std::int32_t id : ids) {
    const std::string token = tokenizer.token_bytes(id);
    spelled.begins.push_back(spelled.bytes.size());
    if (tokenizer.is_special(id)) {
      const std::size_t found = text.find(token, shown);
      if (found == std::string_view::npos) continue;
      shown = found + token.size();
    }
    spelled.bytes += token;
  }
  return spelled;
}

// For every byte of `bytes`, its place in `text`, which was made from `bytes` by replacing invalid bytes and cutting
// the last token after a stop string. The entry after the last is text.size().
std::vector<std::size_t> places_in_text(std::string_view bytes, std::string_view text) {
  std::vector<std::size_t> places;
  std::size_t at = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    places.push_back(at);
    const bool replaced = text.substr(at).starts_with(kReplacement) && !bytes.substr(i).starts_with(kReplacement);
    if (replaced)
      at += kReplacement.size();
    else if (at < text.size() && text[at] == bytes[i])
      ++at;
    else if (at < text.size())
      throw Error(
          "trajectory: the tokens differ from the turn's text from byte {} on. Give the model "
          "that wrote it.",
          at);
  }
  if (at < text.size())
    throw Error("trajectory: the tokens spell {} bytes of a turn that has {}. Give the model that wrote it.", at,
                text.size());
  places.push_back(at);
  return places;
}

// The beginning of each token in `text`.
std::vector<std::size_t> token_places(std::string_view text, std::span<const std::int32_t> ids,
                                      const Tokenizer& tokenizer) {
  const SpelledTokens spelled = spell(text, ids, tokenizer);
  const std::vector<std::size_t> places = places_in_text(spelled.bytes, text);
  std::vector<std::size_t> begins;
  for (const std::size_t begin : spelled.begins) begins.push_back(places[begin]);
  return begins;
}

}  // namespace

std::vector<TokenSegment> token_segments(std::string_view text, std::span<const std::int32_t> ids,
                                         const Tokenizer& tokenizer, env::StepRule rule) {
  const std::vector<std::size_t> begins = token_places(text, ids, tokenizer);
  std::vector<env::Segment> segments = env::segment_turn(text, rule);
  if (segments.empty()) segments.push_back({env::SegmentKind::answer, -1, {0, 0}});
  std::vector<TokenSegment> parts;
  std::size_t token = 0;
  for (const env::Segment& segment : segments) {
    const std::size_t first = token;
    const bool last = &segment == &segments.back();
    while (token < begins.size() && (last || begins[token] < segment.span.end)) ++token;
    if (token > first) parts.push_back({segment, static_cast<int>(first), static_cast<int>(token)});
  }
  return parts;
}

std::vector<CreditSegment> segments_of_turn(std::string_view text, std::span<const std::int32_t> ids,
                                            const Tokenizer& tokenizer, int turn, env::StepRule rule) {
  std::vector<CreditSegment> segments;
  for (const TokenSegment& part : token_segments(text, ids, tokenizer, rule)) {
    const bool called = part.segment.kind == env::SegmentKind::tool;
    segments.push_back({called ? env::SegmentKind::answer : part.segment.kind, part.end - part.begin, turn});
  }
  return segments;
}

std::vector<std::uint16_t> text_bytes_of(std::string_view text, std::span<const std::int32_t> ids,
                                         const Tokenizer& tokenizer) {
  std::vector<std::size_t> places = token_places(text, ids, tokenizer);
  places.push_back(text.size());
  std::vector<std::uint16_t> bytes;
  for (std::size_t i = 0; i < ids.size(); ++i) bytes.push_back(static_cast<std::uint16_t>(places[i + 1] - places[i]));
  return bytes;
}

bool was_cut(const record::Episode& episode) {
  return std::ranges::any_of(
      episode.turns, [](const record::Turn& turn) { return turn.finish_reason == "length" || turn.full_context; });
}

CreditRollout credit_rollout(const record::Episode& episode, const Tokenizer& tokenizer,
                             const std::map<std::string, double>& reward_weights, env::StepRule rule) {
  CreditRollout rollout;
  rollout.answer_reward = weighted_reward(reward_components(episode), reward_weights);
  rollout.correct = episode.success;
  rollout.score = episode.score;
  rollout.turn_correct = record::turns_correct(episode);
  rollout.truncated = was_cut(episode);
  for (int number = 0; const record::Turn& turn : episode.turns) {
    if (turn.given) continue;
    for (const CreditSegment& segment : segments_of_turn(turn.text, turn.token_ids, tokenizer, number++, rule))
      rollout.segments.push_back(segment);
  }
  return rollout;
}

}  // namespace agon::agents
