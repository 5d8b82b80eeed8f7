// agents/learn/data/trajectory.h - assigns the tokens that a policy wrote to segments. Ids are the sampled ones; no
// text is tokenised again. No torch here.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/learn/credit/credit.h"
#include "env/protocol.h"
#include "record/episode.h"

namespace agon::agents {

// A segment of a turn and the tokens whose first byte lies in it.
struct TokenSegment {
  env::Segment segment;    // its kind, the number of its step, its bytes of the turn's text
  int begin = 0, end = 0;  // tokens of the turn, half-open; never empty
};

// The segments of env::segment_turn(text, rule) in order, without segments in which no token begins: every token of
// `ids` lies in exactly one. Tokens without text (the end-of-turn token) belong to the last segment: `score` if there
// is one; a turn without text is one segment `answer`. `text` may include or omit a special token that was sampled
// within the turn. Throws Error if the ids do not spell `text` (another tokenizer).
std::vector<TokenSegment> token_segments(std::string_view text, std::span<const std::int32_t> ids,
                                         const Tokenizer& tokenizer, env::StepRule rule = env::StepRule::blank_line);

// The same in the form that credit needs: a tool call, which the policy wrote, counts as answer. turn: number of the
// turn in its episode, from 0.
std::vector<CreditSegment> segments_of_turn(std::string_view text, std::span<const std::int32_t> ids,
                                            const Tokenizer& tokenizer, int turn,
                                            env::StepRule rule = env::StepRule::blank_line);

// The number of bytes of `text` that each token spells; they sum to the text's size. Throws as token_segments.
std::vector<std::uint16_t> text_bytes_of(std::string_view text, std::span<const std::int32_t> ids,
                                         const Tokenizer& tokenizer);

// Whether the policy's text was cut: a turn at the token limit, or the episode at the limit of the context.
bool was_cut(const record::Episode& episode);

// An episode in the form that credit needs, with only the tokens that the policy wrote, without the env's answers
// between turns. answer_reward: weighted_reward of its components (agents/learn/data/reward.h); turn_correct:
// record::turns_correct; truncated: was_cut. Throws as token_segments and weighted_reward.
CreditRollout credit_rollout(const record::Episode& episode, const Tokenizer& tokenizer,
                             const std::map<std::string, double>& reward_weights,
                             env::StepRule rule = env::StepRule::blank_line);

}  // namespace agon::agents
