#include "agents/learn/loop/decomposition.h"

#include <mutex>

#include "agents/engine/local_policy.h"
#include "agents/rollout.h"
#include "core/error.h"
#include "env/protocol.h"
#include "env/suite.h"
#include "paths.h"
#include "torch_catch.h"

namespace agon::agents {
namespace {

using Catch::Matchers::Contains;

SplitStep step(std::size_t task, bool perception, bool visual) {
  return {.task = task, .perception = perception, .otsu = {visual}};
}

bool by_otsu(const SplitStep& step) { return step.otsu[0]; }

TEST_CASE("decomposition: agreement of a split with the labels, counted by hand") {
  const std::vector<SplitStep> steps{step(0, true, true),   step(0, true, false), step(0, false, false),
                                     step(7, false, false), step(7, false, true), step(7, true, true)};
  const SplitAgreement found = agreement(steps, by_otsu);
  CHECK(found.accuracy.value == Approx(4.0 / 6));
  CHECK(found.visual_share == Approx(3.0 / 6));
  CHECK(found.perception_found == Approx(2.0 / 3));
  CHECK(found.reasoning_found == Approx(2.0 / 3));
  CHECK(found.accuracy.interval.low == Approx(0.1594).margin(1e-4));  // for two tasks with equal results
  CHECK(found.accuracy.interval.high == Approx(0.9547).margin(1e-4));
  const SplitAgreement one_sided = agreement({step(0, true, true)}, by_otsu);
  CHECK(one_sided.accuracy.value == 1);
  CHECK(std::isnan(one_sided.reasoning_found));
  CHECK(std::isnan(agreement({}, by_otsu).accuracy.value));
}

// Roll-outs of agon-tiny on charts.
struct Played {
  Played() {
    RolloutOptions options{.suite = env::Suite("charts", {.level = 2})};
    options.tasks = 4;
    options.samples = 3;
    options.greedy = false;
    options.sampling.max_tokens = 60;
    instructions = options.suite.info().instructions;
    env = options.suite.make_env();
    for (std::uint64_t task = 0; task < options.tasks; ++task) tasks.push_back({{options.split, task, 0}, {}});
    std::mutex mutex;
    play(*make_local_policy(folder.path), options, {}, [&](record::Episode episode) {
      const std::lock_guard lock(mutex);
      tasks[episode.task_index].episodes.push_back(std::move(episode));
    });
  }
  std::vector<SplitStep> steps(const DecompositionOptions& options) {
    return split_steps_of(folder, *env, instructions, tasks, options, [] { return true; });
  }
  ModelFolder folder = open_model_folder(agon::test::source_path("models/agon-tiny"));
  std::string instructions;
  std::unique_ptr<env::Env> env;
  std::vector<PlayedTask> tasks;
};

// The numbers of perception steps and reasoning steps in the texts, by the suite's labels.
std::pair<int, int> labelled_steps(env::Env& env, const std::vector<PlayedTask>& tasks) {
  int perception = 0, reasoning = 0;
  for (const PlayedTask& task : tasks)
    for (const record::Episode& episode : task.episodes) {
      env.reset(task.reset);
      const std::string& text = episode.turns[0].text;
      for (const env::Segment& segment : env::segment_turn(text)) {
        if (segment.kind != env::SegmentKind::step) continue;
        const auto span = env::split_steps(segment.span.of(text)).at(0).of(segment.span.of(text));
        const auto label = env.check_step({text.substr(0, segment.span.begin), std::string(span)});
        if (label) ++(label->kind == env::StepKind::perception ? perception : reasoning);
      }
    }
  return {perception, reasoning};
}

TEST_CASE("decomposition: the suite's labels and PDCR's splits of played steps") {
  Played played;
  DecompositionOptions options;
  options.pictures = {PictureChange::white, PictureChange::rotate};
  const std::vector<SplitStep> steps = played.steps(options);
  const auto [perception, reasoning] = labelled_steps(*played.env, played.tasks);
  CHECK(std::ssize(steps) == perception + reasoning);
  CHECK(std::count_if(steps.begin(), steps.end(), [](const SplitStep& s) { return s.perception; }) == perception);
  CHECK(perception > 10);
  CHECK(reasoning > 5);
  bool differ = false;
  for (const SplitStep& s : steps) {
    REQUIRE(s.visual.size() == 2);
    differ = differ || s.visual[0] != s.visual[1];
  }
  CHECK(differ);

  // A single picture gives the same measurement; the share of visual steps is a setting.
  options.pictures = {PictureChange::rotate};
  const std::vector<SplitStep> alone = played.steps(options);
  options.settings = {{"visual_share", 1.0}};
  const std::vector<SplitStep> all = played.steps(options);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CHECK(alone[i].visual[0] == steps[i].visual[1]);
    CHECK(alone[i].otsu[0] == steps[i].otsu[1]);
    CHECK(alone[i].random == steps[i].random);
    CHECK(all[i].top_k[0]);
    CHECK(all[i].random);
  }
}

TEST_CASE("decomposition: roll-outs that do not fit the env") {
  Played played;
  played.tasks[1].reset.index = 2;
  DecompositionOptions options;
  options.pictures = {PictureChange::white};
  CHECK_THROWS_WITH(played.steps(options), Contains("charts/2/test/2") && Contains("charts/2/test/1"));
  played.tasks[1].reset.index = 1;
  options.settings = {{"visual_shre", 1.0}};
  CHECK_THROWS_WITH(played.steps(options), Contains("visual_share"));
}

}  // namespace
}  // namespace agon::agents
