#include "agents/learn/data/train_rollout.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "agents/learn/data/sft/data.h"
#include "agents/learn/loop/train_metrics.h"
#include "core/error.h"
#include "paths.h"

using namespace agon;
using namespace agon::agents;
using Catch::Matchers::Contains;
using Ids = std::vector<std::int32_t>;

namespace {

const ModelFolder& tiny() {
  static const ModelFolder folder = open_model_folder(agon::test::source_path("models/agon-tiny"));
  return folder;
}

std::int32_t id_of(const char* token) { return tiny().tokenizer->id_of(token).value(); }

Ids ids_of(const std::string& text, const char* end = "<|im_end|>") {
  Ids ids = tiny().tokenizer->encode(text, false);
  if (end) ids.push_back(id_of(end));
  return ids;
}

int prompt_tokens(const record::Episode& episode) {  // of its last turn
  return static_cast<int>(encode_prompt(messages_before_last_turn(episode, ""), {}, tiny().chat, *tiny().tokenizer,
                                        tiny().images, tiny().config)
                              .ids.size());
}

// Adds a turn that answers `question`, after the earlier turns.
void add_turn(record::Episode& episode, const std::string& question, const std::string& text, Ids ids) {
  record::Turn& turn = episode.turns.emplace_back();
  turn.observation.parts = {Part::of(question)};
  turn.text = text;
  turn.token_ids = std::move(ids);
  turn.logprobs.assign(turn.token_ids.size(), -0.5f);
  turn.finish_reason = "stop";
  turn.reward = {1, {{"accuracy", 1}}};
  turn.prompt_tokens = prompt_tokens(episode);
}

// Two turns, the first of which is these ids.
record::Episode two_turns(const std::string& text, Ids first) {
  record::Episode episode;
  episode.task_id = "words/1/train/0";
  add_turn(episode, "How much?", text, std::move(first));
  add_turn(episode, "Again?", "<answer>5</answer>", ids_of("<answer>5</answer>"));
  return episode;
}

TrainGroup group_of(std::vector<record::Episode> episodes) { return make_train_group(std::move(episodes), "", tiny()); }

PlayedGroups collected(record::Episode episode) {
  PlayedGroups played;
  played.add({std::move(episode)}, 3, "", tiny(), env::StepRule::blank_line);
  return played;
}

}  // namespace

TEST_CASE("train rollout: a turn that ends with the second end token is trained as it was sampled") {
  const Ids first = ids_of("<answer>4</answer>", "<|endoftext|>");
  const TrainGroup group = group_of({two_turns("<answer>4</answer>", first)});
  const TrainRollout& rollout = group.rollouts.at(0);
  CHECK(Ids(rollout.response.ids.begin(), rollout.response.ids.begin() + std::ssize(first)) == first);
  CHECK(rollout.logprobs.size() == rollout.response.ids.size());
  CHECK(rollout.segments.at(0) == CreditSegment{env::SegmentKind::answer, static_cast<int>(first.size()), 0});
  CHECK(rollout.segments.at(1).kind == env::SegmentKind::tool);
  int tokens = 0;
  for (const CreditSegment& segment : rollout.segments) tokens += segment.tokens;
  CHECK(tokens == std::ssize(rollout.response.ids));
}

TEST_CASE("train rollout: a turn cut at the limit and one without tokens are laid out") {
  for (const Ids& first : {ids_of("<answer>4", nullptr), Ids()}) {
    const std::string text = first.empty() ? "" : "<answer>4";
    const TrainGroup group = group_of({two_turns(text, first)});
    const Ids& ids = group.rollouts.at(0).response.ids;
    REQUIRE(ids.size() > first.size());
    CHECK(ids[first.size()] == id_of("<|im_end|>"));  // the template adds it
  }
}

TEST_CASE("train rollout: a picture that the roll-outs of a group share is cut once") {
  const auto shown = [](std::uint8_t gray) {
    record::Episode episode = two_turns("<answer>4</answer>", ids_of("<answer>4</answer>"));
    record::Turn& last = episode.turns.back();
    last.observation.parts.insert(last.observation.parts.begin(),
                                  Part::of(Image(56, 56, std::vector<std::uint8_t>(56 * 56 * 3, gray))));
    last.prompt_tokens = prompt_tokens(episode);
    return episode;
  };
  const TrainGroup group = group_of({shown(9), shown(9), shown(10)});
  const auto picture = [&](std::size_t i) { return group.rollouts.at(i).response.images.at(0); };
  CHECK(picture(0) == picture(1));
  CHECK(picture(0) != picture(2));
}

TEST_CASE("train rollout: a special token that was sampled within a turn is a token of it") {
  Ids first = ids_of("so ", "<|vision_start|>");
  const Ids rest = ids_of("<answer>4</answer>");
  first.insert(first.end(), rest.begin(), rest.end());
  for (const char* text : {"so <|vision_start|><answer>4</answer>", "so <answer>4</answer>"}) {
    INFO(text);
    const TrainGroup group = group_of({two_turns(text, first)});
    int tokens = 0;
    for (const CreditSegment& segment : group.rollouts.at(0).segments)
      if (segment.kind != env::SegmentKind::tool && segment.turn == 0) tokens += segment.tokens;
    CHECK(tokens == std::ssize(first));
  }
}

TEST_CASE("train rollout: a group that cannot be laid out is a failed group, with its reason") {
  const Ids answer = ids_of("<answer>4</answer>");
  record::Episode good = two_turns("<answer>4</answer>", answer);
  const PlayedGroups laid_out = collected(good);
  REQUIRE(laid_out.groups.size() == 1);
  CHECK(laid_out.groups.front().source == 3);
  CHECK(laid_out.failed == 0);

  const auto failure = [](record::Episode episode) {
    const PlayedGroups played = collected(std::move(episode));
    CHECK(played.groups.empty());
    CHECK(played.failed == 1);
    return played.failure;
  };
  record::Episode picture = good;  // a sampled image token without a picture, in the last turn
  picture.turns[1].text = "<|image_pad|>";
  picture.turns[1].token_ids = {id_of("<|image_pad|>")};
  CHECK_THAT(failure(picture), Contains("image"));
  record::Episode moved = good;
  moved.turns[1].prompt_tokens -= 1;
  CHECK_THAT(failure(moved), Contains("do not stand after"));
  moved.turns[1].prompt_tokens = 0;
  CHECK_THAT(failure(moved), Contains("do not stand after its 0 prompt tokens"));
  record::Episode other = good;
  other.turns[0].text = "<answer>5</answer>";
  CHECK_THAT(failure(other), Contains("differ from the turn's text"));
  record::Episode damaged = good;
  damaged.turns[1].logprobs[0] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(failure(damaged), Contains("log-probability nan"));
  record::Episode large = good;
  large.turns[0].observation.parts.insert(large.turns[0].observation.parts.begin(),
                                          Part::of(Image(2100, 10, std::vector<std::uint8_t>(2100 * 10 * 3))));
  CHECK_THAT(failure(large), Contains("2100"));
  const auto context = static_cast<std::size_t>(tiny().config.text.max_position_embeddings);
  record::Episode longest = good;
  longest.turns[1].token_ids = Ids(context, answer[1]);
  longest.turns[1].text = tiny().tokenizer->decode(longest.turns[1].token_ids);
  CHECK_THAT(failure(longest), Contains("does not fit the context of"));
}

TEST_CASE("train rollout: groups that cannot be used are failures, the others stay in their order") {
  PlayedGroups played;
  for (const std::size_t source : {0, 1, 2, 3}) played.groups.emplace_back().source = source;
  played.use_each([](const TrainGroup& group) {
    if (group.source % 2 == 0) throw Error("no use for {}", group.source);
  });
  REQUIRE(played.groups.size() == 2);
  CHECK((played.groups[0].source == 1 && played.groups[1].source == 3));
  CHECK((played.failed == 2 && played.failure == "no use for 2"));
}

TEST_CASE("train rollout: a cut in any turn makes it truncated, in the figures and in credit") {
  const record::Episode whole = two_turns("<answer>4</answer>", ids_of("<answer>4</answer>"));
  record::Episode first_cut = whole, full = whole;
  first_cut.turns.front().finish_reason = "length";
  full.turns.back().full_context = {9, 8};
  const TrainGroup group = group_of({whole, first_cut, full});
  const CreditGroup credit = credit_group(group, {}, *tiny().tokenizer);
  CHECK((!credit[0].truncated && credit[1].truncated && credit[2].truncated));
  const record::Metrics metrics = rollout_metrics(std::span(&group, 1), "grpo", {});
  const auto found = std::ranges::find(metrics, "length/truncated", [](const auto& metric) { return metric.first; });
  REQUIRE(found != metrics.end());
  CHECK(found->second == Approx(2.0 / 3));
}

TEST_CASE("train rollout: of single steps there is nothing to part") {
  const std::string lines = "red is 4\nblue is 5\n<answer>9</answer>";
  record::Episode episode;
  episode.task_id = "words/1/train/0";
  add_turn(episode, "How much?", lines, ids_of(lines));
  const auto view = [&](env::StepRule rule) {
    std::vector<TrainGroup> groups;
    groups.push_back(make_train_group({episode}, "", tiny(), rule));
    return groups;
  };
  CHECK(is_single_step(view(env::StepRule::blank_line)));
  CHECK_FALSE(is_single_step(view(env::StepRule::newline)));
  CHECK_FALSE(is_single_step(view(env::StepRule::sentence)));
  CHECK(is_single_step({}));
}

TEST_CASE(
    "train-sft: a demonstration shows a sampled turn that any end token ends, and none with another special one") {
  CHECK(can_be_shown(ids_of("<answer>4</answer>", "<|endoftext|>"), tiny()));
  CHECK(can_be_shown(ids_of("<answer>4", nullptr), tiny()));
  CHECK(can_be_shown({}, tiny()));
  CHECK_FALSE(can_be_shown(ids_of("so", "<|image_pad|>"), tiny()));
  Message shown = Message::of(Role::assistant, "<answer>4</answer>");
  const auto sequence_with = [&](const char* end) {
    shown.token_ids = ids_of("<answer>4</answer>", end);
    return encode_demonstration({{Message::of(Role::user, "How much?"), shown, Message::of(Role::user, "Again?"),
                                  Message::of(Role::assistant, "<answer>5</answer>")},
                                 {false, true},
                                 {}},
                                tiny());
  };
  const SftSequence usual = sequence_with("<|im_end|>"), other = sequence_with("<|endoftext|>");
  CHECK(usual.trained == other.trained);
  CHECK(std::ranges::count(other.trained, 1) == std::ssize(ids_of("<answer>5</answer>")));
}
