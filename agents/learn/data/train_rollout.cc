#include "agents/learn/data/train_rollout.h"

#include <algorithm>
#include <cmath>

#include "agents/hub/pictures/patched_pictures.h"
#include "agents/learn/credit/group.h"
#include "agents/learn/data/trajectory.h"
#include "agents/learn/network/packed_group.h"
#include "core/error.h"

namespace agon::agents {
namespace {

// Index of the first turn that the policy wrote.
std::size_t first_own_turn(const record::Episode& episode) {
  const auto own = std::ranges::find_if_not(episode.turns, &record::Turn::given);
  return static_cast<std::size_t>(own - episode.turns.begin());
}

void append_observation(TrainRollout& rollout, int tokens, int turn) {
  if (tokens > 0) rollout.segments.push_back({env::SegmentKind::tool, tokens, turn});
  rollout.logprobs.resize(rollout.logprobs.size() + static_cast<std::size_t>(tokens), 0.0f);
}

void append_turn(TrainRollout& rollout, const record::Turn& turn, int number, const Tokenizer& tokenizer,
                 env::StepRule rule) {
  rollout.turn_begins.push_back(static_cast<int>(rollout.logprobs.size()));
  for (const CreditSegment& segment : segments_of_turn(turn.text, turn.token_ids, tokenizer, number, rule))
    rollout.segments.push_back(segment);
  std::vector<float> logprobs = turn.logprobs;
  logprobs.resize(turn.token_ids.size(), 0.0f);  // an expert's turn has none
  rollout.logprobs.insert(rollout.logprobs.end(), logprobs.begin(), logprobs.end());
}

bool is_end(std::int32_t id, const ModelConfig& config) {
  return std::ranges::find(config.eos_token_ids, id) != config.eos_token_ids.end();
}

// Copies the turn's tokens to their place in `all`, at or after `from`. The same tokens must already be there, but the
// template may end a turn with another end token than the sampled one.
void place_turn(const record::Episode& episode, const record::Turn& turn, std::int64_t from, const ModelConfig& config,
                EncodedPrompt& all) {
  const std::int64_t begin = turn.prompt_tokens, count = std::ssize(turn.token_ids);
  const auto stands = [&](std::int32_t there, std::int32_t sampled) {
    return there == sampled || (is_end(there, config) && is_end(sampled, config));
  };
  const bool fits = begin >= from && begin + count <= std::ssize(all.ids);
  if (!fits || !std::equal(all.ids.begin() + begin, all.ids.begin() + begin + count, turn.token_ids.begin(), stands))
    throw Error(
        "train: {} sample {}: the tokens of a turn do not stand after its {} prompt tokens. Does the chat template "
        "differ from that of the policy that wrote them?",
        episode.task_id, episode.sample, turn.prompt_tokens);
  std::copy(turn.token_ids.begin(), turn.token_ids.end(), all.ids.begin() + begin);
}

void check_logprobs(const record::Episode& episode, const record::Turn& turn) {
  for (const float logprob : turn.logprobs)
    if (!std::isfinite(logprob))
      throw Error("train: {} sample {}: the policy gave a token the log-probability {}. Are its weights damaged?",
                  episode.task_id, episode.sample, logprob);
}

void check_size(const TrainGroup& group, const ModelFolder& folder) {
  const std::int64_t prompt = std::ssize(group.prompt.ids), context = folder.config.text.max_position_embeddings;
  std::int64_t all = 0;
  for (const TrainRollout& rollout : group.rollouts) {
    const std::int64_t response = std::ssize(rollout.response.ids);
    all += response;
    if (prompt + response > context)
      throw Error("train: {}: a roll-out of {} tokens after a prompt of {} does not fit the context of {}.",
                  group.episodes.front().task_id, response, prompt, context);
  }
  if (all > kMostGroupTokens)
    throw Error("train: {}: the group's roll-outs are {} tokens together, more than {}. Lower 'samples'.",
                group.episodes.front().task_id, all, kMostGroupTokens);
}

// Guards against a folder that names the image token as an end token: a sampled image token has no picture.
void check_pictures(const TrainGroup& group, const ModelFolder& folder) {
  std::vector<EncodedPrompt> responses;
  for (const TrainRollout& rollout : group.rollouts) responses.push_back(rollout.response);
  make_packed_group(group.prompt, responses, folder.config);
}

TrainRollout make_rollout(const record::Episode& episode, const EncodedPrompt& prompt, const std::string& instructions,
                          const ModelFolder& folder, env::StepRule rule, PatchedPictures& pictures) {
  TrainRollout rollout;
  const std::size_t first = first_own_turn(episode);
  EncodedPrompt all = episode.turns.size() == first + 1
                          ? prompt
                          : encode_prompt(messages_before_last_turn(episode, instructions), {}, folder.chat,
                                          *folder.tokenizer, folder.images, folder.config, &pictures);
  const std::vector<std::int32_t>& last = episode.turns.back().token_ids;
  all.ids.insert(all.ids.end(), last.begin(), last.end());
  const int begin = static_cast<int>(prompt.ids.size());
  for (std::size_t i = first; i < episode.turns.size(); ++i) {
    const record::Turn& turn = episode.turns[i];
    const int number = static_cast<int>(i - first);
    place_turn(episode, turn, begin + std::ssize(rollout.logprobs), folder.config, all);
    check_logprobs(episode, turn);
    append_observation(rollout, turn.prompt_tokens - begin - static_cast<int>(rollout.logprobs.size()), number);
    append_turn(rollout, turn, number, *folder.tokenizer, rule);
  }
  rollout.response.ids.assign(all.ids.begin() + begin, all.ids.end());
  rollout.response.images.assign(all.images.begin() + std::ssize(prompt.images), all.images.end());
  return rollout;
}

}  // namespace

bool is_trained(const TrainGroup& group) {
  for (const TokenCredit& credit : group.credit.rollouts)
    for (const float weight : credit.weight)
      if (weight != 0) return true;
  return false;
}

bool has_gradient(const TrainGroup& group) {
  for (const TokenCredit& credit : group.credit.rollouts)
    for (std::size_t i = 0; i < credit.weight.size(); ++i)
      if (credit.weight[i] != 0 && (credit.advantage[i] != 0 || credit.kl[i] != 0)) return true;
  return false;
}

bool is_single_step(std::span<const TrainGroup> groups) {
  const auto is_step = [](const CreditSegment& segment) {
    return segment.kind == env::SegmentKind::think || segment.kind == env::SegmentKind::step;
  };
  return std::ranges::all_of(groups, [&](const TrainGroup& group) {
    return std::ranges::all_of(group.rollouts, [&](const TrainRollout& rollout) {
      return std::ranges::count_if(rollout.segments, is_step) < 2;
    });
  });
}

std::vector<Message> messages_before_turn(const record::Episode& episode, std::size_t turn,
                                          const std::string& instructions) {
  std::vector<Message> messages;
  if (!instructions.empty()) messages.push_back(Message::of(Role::system, instructions));
  for (std::size_t i = 0; i < turn; ++i) {
    messages.push_back({Role::user, episode.turns[i].observation.parts, {}, {}});
    messages.push_back(Message::of(Role::assistant, episode.turns[i].text));
    messages.back().token_ids = episode.turns[i].token_ids;
  }
  messages.push_back({Role::user, episode.turns[turn].observation.parts, {}, {}});
  return messages;
}

std::vector<Message> first_messages(const record::Episode& episode, const std::string& instructions) {
  return messages_before_turn(episode, first_own_turn(episode), instructions);
}

std::vector<Message> messages_before_last_turn(const record::Episode& episode, const std::string& instructions) {
  return messages_before_turn(episode, episode.turns.size() - 1, instructions);
}

TrainGroup make_train_group(std::vector<record::Episode> episodes, const std::string& instructions,
                            const ModelFolder& folder, env::StepRule rule) {
  TrainGroup group;
  PatchedPictures pictures(folder.images);
  group.prompt = encode_prompt(first_messages(episodes.front(), instructions), {}, folder.chat, *folder.tokenizer,
                               folder.images, folder.config, &pictures);
  for (const record::Episode& episode : episodes)
    group.rollouts.push_back(make_rollout(episode, group.prompt, instructions, folder, rule, pictures));
  group.episodes = std::move(episodes);
  check_size(group, folder);
  check_pictures(group, folder);
  return group;
}

void PlayedGroups::fail(std::string reason, int count) {
  failure = std::move(reason);
  failed += count;
}

void PlayedGroups::add(std::vector<record::Episode> episodes, std::size_t source, const std::string& instructions,
                       const ModelFolder& folder, env::StepRule rule) try {
  TrainGroup group = make_train_group(std::move(episodes), instructions, folder, rule);
  group.source = source;
  groups.push_back(std::move(group));
} catch (const Error& error) {
  fail(error.what());
}

void PlayedGroups::use_each(const std::function<void(const TrainGroup& group)>& use) {
  std::vector<TrainGroup> used;
  for (TrainGroup& group : groups) try {
      use(group);
      used.push_back(std::move(group));
    } catch (const Error& error) {
      fail(error.what());
    }
  groups = std::move(used);
}

CreditGroup credit_group(const TrainGroup& group, const std::map<std::string, double>& weights,
                         const Tokenizer& tokenizer) {
  CreditGroup result;
  for (std::size_t i = 0; i < group.episodes.size(); ++i) {
    result.push_back(credit_rollout(group.episodes[i], tokenizer, weights));
    result.back().segments = group.rollouts[i].segments;
  }
  return result;
}

}  // namespace agon::agents
