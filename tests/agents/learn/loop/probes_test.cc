#include "agents/learn/loop/probes.h"
#include "agents/learn/loop/probe_group.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>

#include "agents/learn/data/train_rollout.h"
#include "core/error.h"
#include "fixtures/episode.h"
#include "golden/model.h"
#include "paths.h"
#include "random_texts.h"
#include "torch_catch.h"

namespace agon::agents {
namespace {

using at::Tensor;
using Catch::Matchers::Contains;
using test::alone;
using test::GoldenModel;
using test::joined;
using test::TextMaker;

using Ids = std::vector<std::int32_t>;

// Sum of the log-probabilities of ids[from ..] in the text.
double logprob(TransformerNetwork& model, const EncodedPrompt& text, std::size_t from, double temperature = 1) {
  const at::NoGradGuard no_grad;
  const Tensor all = at::log_softmax(model.logits(alone(model, text)) / temperature, -1);
  double sum = 0;
  for (std::size_t i = from; i < text.ids.size(); ++i)
    sum += all[static_cast<std::int64_t>(i) - 1][text.ids[i]].item<double>();
  return sum;
}

// The first `count` ids, with the pictures among them.
EncodedPrompt first_of(const EncodedPrompt& text, int count, std::int32_t image_token) {
  EncodedPrompt result;
  result.ids.assign(text.ids.begin(), text.ids.begin() + count);
  for (std::size_t i = 0; i < result.ids.size(); ++i)
    if (result.ids[i] == image_token && (i == 0 || result.ids[i - 1] != image_token))
      result.images.push_back(text.images[result.images.size()]);
  return result;
}

EncodedPrompt with_images(EncodedPrompt text, const PatchedImages& images) {
  text.images = images;
  return text;
}

// Compares the results of probe_steps with one forward pass per step and picture.
void check_rollout(TransformerNetwork& model, const ProbeGroup& group, const ProbedRollout& rollout,
                   const StepProbes& probes, double temperature) {
  const std::int32_t image_token = model.config().image_token_id;
  REQUIRE(probes.confidence.size() == rollout.steps.size() + 1);
  for (std::size_t k = 0; k <= rollout.steps.size(); ++k) {
    const Ids& suffix = k == 0 ? group.suffix : rollout.steps[k - 1].suffix;
    const int end = k == 0 ? 0 : rollout.steps[k - 1].end;
    const EncodedPrompt before =
        joined(joined(group.prompt, first_of(rollout.response, end, image_token)), {suffix, {}});
    INFO("after step " << k);
    CHECK(probes.confidence[k] ==
          Approx(logprob(model, joined(before, {group.answer, {}}), before.ids.size(), temperature)).margin(2e-5));
  }
  for (std::size_t k = 0; k < probes.visual.size(); ++k) {
    const ProbedStep& step = rollout.steps[k];
    const auto from = group.prompt.ids.size() + static_cast<std::size_t>(step.begin);
    const auto measured = [&](const PatchedImages& prompt_images, const PatchedImages& images) {
      const EncodedPrompt prompt = with_images(group.prompt, prompt_images);
      return logprob(model, joined(prompt, first_of(with_images(rollout.response, images), step.end, image_token)),
                     from, temperature);
    };
    const double expected =
        measured(group.prompt.images, rollout.response.images) - measured(group.changed_images, rollout.changed_images);
    INFO("step " << k);
    CHECK(probes.visual[k] == Approx(expected).margin(4e-5));
  }
}

void check_exact(TransformerNetwork& model, const std::vector<ProbeGroup>& groups, double temperature,
                 std::int64_t rows) {
  const auto results = probe_steps(model, groups, temperature, rows);
  REQUIRE(results.size() == groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    REQUIRE(results[g].size() == groups[g].rollouts.size());
    for (std::size_t i = 0; i < results[g].size(); ++i) {
      INFO("group " << g << " roll-out " << i);
      check_rollout(model, groups[g], groups[g].rollouts[i], results[g][i], temperature);
    }
  }
}

// A group with pictures in its prompt and in a later turn, steps with gaps, suffixes of several lengths, an empty
// suffix, and a response without steps.
ProbeGroup illustrated(TextMaker& texts, const ImageGrid& grid, const ImageGrid& changed) {
  ProbeGroup group;
  group.prompt = texts.text(4, {grid});
  group.changed_images = texts.text(1, {changed}).images;
  group.suffix = {7, 8};
  group.answer = {1, 2, 3};
  group.rollouts.push_back({texts.text(12), {}, {{0, 3, {9}}, {3, 7, {}}, {8, 12, {5, 6, 7}}}});
  group.rollouts.push_back({texts.text(5), {}, {}});
  EncodedPrompt later = texts.text(6, {grid});
  const int tokens = static_cast<int>(later.ids.size());
  group.rollouts.push_back({later, texts.text(1, {changed}).images, {{1, 4, {4}}, {tokens - 5, tokens - 2, {}}}});
  group.rollouts.push_back({later, texts.text(1, {changed}).images, {{0, 2, {}}}});  // ends before its picture
  return group;
}

ProbeGroup plain(TextMaker& texts) {
  ProbeGroup group;
  group.prompt = texts.text(6);
  group.answer = {11};
  group.rollouts.push_back({texts.text(4), {}, {{0, 2, {}}, {2, 4, {3}}}});
  return group;
}

TEST_CASE("probes: every figure equals one forward a step and a picture") {
  for (const std::string name : {"one_picture", "uneven_windows", "wide_head"}) {
    GoldenModel golden(name);
    INFO(name);
    TextMaker texts(golden.model->config(), 21);
    const std::vector<ProbeGroup> groups{illustrated(texts, {1, 4, 4}, {1, 4, 4}), plain(texts),
                                         illustrated(texts, {1, 2, 6}, {1, 6, 2})};  // turned
    check_exact(*golden.model, groups, 1, 16384);
    check_exact(*golden.model, groups, 0.7, 1);  // one pass each
  }
}

TEST_CASE("probes: what is not measured is empty, a group without a picture depends on none") {
  GoldenModel golden("one_picture");
  TextMaker texts(golden.model->config(), 3);
  ProbeGroup group = illustrated(texts, {1, 4, 4}, {1, 4, 4});
  group.changed_images.clear();
  for (ProbedRollout& rollout : group.rollouts) rollout.changed_images.clear();
  const auto results = probe_steps(*golden.model, std::vector<ProbeGroup>{group, plain(texts)});
  CHECK(results[0][0].confidence.size() == 4);
  CHECK(results[0][0].visual.empty());
  CHECK(results[1][0].visual == std::vector<double>{0, 0});
  CHECK(results[0][1].confidence == std::vector<double>{results[0][0].confidence[0]});
  CHECK(probe_steps(*golden.model, {}).empty());
}

TEST_CASE("probes: groups that do not hold are refused") {
  GoldenModel golden("one_picture");
  TextMaker texts(golden.model->config(), 3);
  const ProbeGroup group = illustrated(texts, {1, 4, 4}, {1, 4, 4});
  const auto probe = [&](const std::function<void(ProbeGroup&)>& change) {
    ProbeGroup changed = group;
    change(changed);
    probe_steps(*golden.model, std::vector<ProbeGroup>{changed});
  };
  CHECK_THROWS_WITH(probe([](ProbeGroup& g) { g.answer.clear(); }), Contains("the gold answer has no tokens"));
  CHECK_THROWS_WITH(probe([](ProbeGroup& g) { g.prompt.ids.clear(); }), Contains("an empty prompt"));
  CHECK_THROWS_WITH(probe([](ProbeGroup& g) { g.rollouts[0].steps[1].begin = 2; }),
                    Contains("a step of tokens 2 to 7"));
  CHECK_THROWS_WITH(probe([](ProbeGroup& g) { g.rollouts[0].steps[2].end = 13; }), Contains("in a response of 12"));
  CHECK_THROWS_WITH(probe([](ProbeGroup& g) { g.rollouts[0].steps[0].end = 0; }), Contains("a step of tokens"));
  CHECK_THROWS_WITH(probe([](ProbeGroup& g) { g.changed_images.clear(); }), Contains("0 changed pictures for 1"));
  CHECK_THROWS_WITH(probe([&](ProbeGroup& g) {
                      g.changed_images = texts.text(1, {{1, 2, 4}}).images;
                    }),
                    Contains("image 1 has 4 tokens in the prompt"));
}

// A group of two episodes of one turn, played by hand.
struct PlayedGroup {
  explicit PlayedGroup(const std::vector<std::string>& answers, const Json& gold)
      : folder(open_model_folder(agon::test::source_path("models/agon-tiny"))) {
    std::vector<record::Episode> episodes;
    const Message question{Role::user, {Part::of(test::picture(3, 56, 112)), Part::of("How much is red?")}, {}, {}};
    const auto prompt =
        encode_prompt({question}, {}, folder.chat, *folder.tokenizer, folder.images, folder.config).ids.size();
    for (const std::string& answer : answers) {
      record::Episode& episode = episodes.emplace_back();
      episode.task_id = "charts/1/train/0";
      episode.gold = gold;
      record::Turn& turn = episode.turns.emplace_back();
      turn.observation.parts = question.parts;
      turn.text = answer;
      turn.token_ids = folder.tokenizer->encode(answer, false);
      turn.prompt_tokens = static_cast<int>(prompt);
    }
    group = make_train_group(std::move(episodes), "", folder);
  }
  std::string text(const Ids& ids) const { return folder.tokenizer->decode(ids); }
  std::string step(std::size_t rollout, std::size_t k, const ProbeGroup& probes) const {
    const ProbedStep& step = probes.rollouts[rollout].steps[k];
    const Ids& ids = probes.rollouts[rollout].response.ids;
    return text({ids.begin() + step.begin, ids.begin() + step.end});
  }
  ModelFolder folder;
  TrainGroup group;
};

TEST_CASE("probes: a group's steps, suffixes and gold") {
  const PlayedGroup played({"red is 4\n\nso 4\n\n<answer>4</answer><score>0.9</score>",
                            "<think>red is 5\n\nblue is 1</think>\n\n<answer>5</answer>", "<answer>4</answer>"},
                           "4");
  const ProbeGroup probes = make_probe_group(played.group, played.folder, {});
  CHECK(played.text(probes.answer) == "4");
  CHECK(played.text(probes.suffix) == "<answer>");
  REQUIRE(probes.rollouts.size() == 3);
  REQUIRE(probes.rollouts[0].steps.size() == 2);
  CHECK(played.step(0, 0, probes) == "red is 4\n\n");
  CHECK(played.step(0, 1, probes) == "so 4\n\n");
  CHECK(played.text(probes.rollouts[0].steps[0].suffix) == "<answer>");
  REQUIRE(probes.rollouts[1].steps.size() == 2);
  CHECK(played.text(probes.rollouts[1].steps[0].suffix) == "</think><answer>");
  CHECK(played.text(probes.rollouts[1].steps[1].suffix) == "<answer>");  // the step closes the thought itself
  CHECK(probes.rollouts[2].steps.empty());
  REQUIRE(probes.changed_images.size() == 1);
  CHECK(probes.changed_images[0]->grid == probes.prompt.images[0]->grid);
  const auto& white = probes.changed_images[0]->patches;
  CHECK(white[0] == Approx((1 - played.folder.images.mean[0]) / played.folder.images.std[0]));
}

TEST_CASE("probes: settings and golds of other forms") {
  const PlayedGroup number({"so 4\n\n<answer>4</answer>"}, 17), box({"<answer>4</answer>"}, {1.0, 20.0, 30.0, 41.6});
  ProbeSettings settings;
  settings.suffix = " it is ";
  settings.change = PictureChange::rotate;
  const ProbeGroup probes = make_probe_group(number.group, number.folder, settings);
  CHECK(number.text(probes.answer) == "17");
  CHECK(number.text(probes.rollouts[0].steps[0].suffix) == " it is ");
  CHECK(probes.changed_images[0]->grid.h == probes.prompt.images[0]->grid.w);
  settings.visual = false;
  CHECK(make_probe_group(number.group, number.folder, settings).changed_images.empty());
  CHECK(box.text(make_probe_group(box.group, box.folder, {}).answer) == "[1,20,30,42]");
  const PlayedGroup list({"<answer>4</answer>"}, Json::array({"tap", "type"}));
  CHECK_THROWS_WITH(make_probe_group(list.group, list.folder, {}), Contains("not a text, number or box"));
}

}  // namespace
}  // namespace agon::agents
