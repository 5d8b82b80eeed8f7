#include "agents/learn/loop/train.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "agents/config_reader.h"
#include "agents/engine/local_policy.h"
#include "agents/hub/safetensors.h"
#include "agents/learn/data/reward.h"
#include "agents/learn/data/task_source.h"
#include "agents/learn/loop/train_model.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "first_step.h"
#include "paths.h"
#include "record/run_reader.h"
#include "temp_folder.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;
using namespace agon::test;

namespace {

void check_equal_weights(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto first = SafetensorsFile::open(a / "model.safetensors"),
             second = SafetensorsFile::open(b / "model.safetensors");
  REQUIRE(first->tensors().size() == second->tensors().size());
  for (const auto& [name, view] : first->tensors()) {
    INFO(name);
    REQUIRE(std::equal(view.bytes.begin(), view.bytes.end(), second->tensors().at(name).bytes.begin()));
  }
}

bool differ(const std::filesystem::path& a, const std::filesystem::path& b) {
  return read_file((a / "model.safetensors").string()) != read_file((b / "model.safetensors").string());
}

std::ptrdiff_t steps_recorded(const std::filesystem::path& run) try {
  return std::ssize(record::RunReader::open(run)->metrics()["reward/total"]);
} catch (const Error&) {  // not there yet
  return 0;
}

}  // namespace

TEST_CASE("train: interrupted twice and resumed, the weights are bit for bit those of an undisturbed training",
          "[long]") {
  const TempFolder folder;
  const std::string method = GENERATE("grpo", "adpo", "pdcr", "lora");
  const auto config = [&](const char* name) {
    const std::string lora = method == "lora" ? "lora.rank=4" : "lora.rank=0";
    return config_with(folder.path() / (method + name),
                       {"method=" + (method == "lora" ? "adpo" : method), lora, "loss.epochs=2", "loss.minibatches=2"});
  };
  std::atomic<bool> go = false;
  const TrainConfig whole = config("whole"), parts = config("parts");
  REQUIRE(train(whole, Resume::no, go));
  for (const int steps : {1, 4}) {
    std::atomic<bool> stop = false;
    std::jthread watcher([&, steps](const std::stop_token& end) {
      while (!end.stop_requested() && !stop) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        stop = steps_recorded(parts.output) >= steps;
      }
    });
    REQUIRE_FALSE(train(parts, steps == 1 ? Resume::no : Resume::yes, stop));
  }
  REQUIRE(train(parts, Resume::yes, go));
  check_equal_weights(whole.output / "model", parts.output / "model");
  check_equal_weights(whole.output / "best", parts.output / "best");
  const auto a = record::RunReader::open(whole.output)->metrics(), b = record::RunReader::open(parts.output)->metrics();
  for (const auto& [name, curve] : a) {
    INFO(name);
    if (!name.starts_with("time/") && !name.starts_with("speed/")) CHECK(b.at(name) == curve);
  }
  CHECK(differ(whole.output / "model", kModel));
}

TEST_CASE("train: every file of a checkpoint and of the model is synced before it is relied on") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  const std::string lora = GENERATE("lora.rank=0", "lora.rank=2");
  const TrainConfig config = config_with(folder / "run", {"steps=2", "checkpoint_steps=1", lora, "evaluation.every=0",
                                                          "sources=[{suite: charts, prompts: 1}]"});
  std::mutex mutex;
  std::set<std::string> synced, put_in_place;
  set_file_probe([&](std::string_view call, const std::string& path) {
    const std::lock_guard lock(mutex);
    if (call == "sync") synced.insert(path);
    if (call != "rename" || path != (config.output / "checkpoint").string()) return 0;
    put_in_place = synced;
    std::erase_if(synced, [](const std::string& one) { return one.find("/checkpoint.new/") != std::string::npos; });
    return 0;
  });
  REQUIRE(train(config, Resume::no, go));
  set_file_probe({});
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(config.output)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    const std::string fresh = replace_all(path, "/checkpoint/", "/checkpoint.new/");
    if (!entry.is_regular_file() || name == "lock" || name == "run.sqlite-shm") continue;
    INFO(path);
    CHECK((fresh != path ? put_in_place : synced).contains(fresh));
    ++files;
  }
  CHECK(files > 10);
}

TEST_CASE("train: the best model is chosen on the validation split, and none on the test split") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  const std::string split = GENERATE("validation", "test");
  const TrainConfig config = config_with(folder / "run", {"steps=2", "evaluation.every=1", "evaluation.split=" + split,
                                                          "sources=[{suite: charts, level: 3, prompts: 1}]"});
  REQUIRE(train(config, Resume::no, go));
  CHECK(std::filesystem::exists(config.output / "best/model.safetensors") == (split == "validation"));
  const auto run = record::RunReader::open(config.output);
  CHECK(run->metrics().contains("eval/validation/charts-3/pass_at_1") == (split == "validation"));
  CHECK(run->metrics().contains("eval/charts-3/pass_at_1") == (split == "test"));
  CHECK(run->summary().at("charts-3").at("split") == split);
}

TEST_CASE("train: no model is the best by a figure that one of the sources does not have") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  // A policy that was never taught to judge gives no right verdict, so there is nothing to rank.
  const TrainConfig config = config_with(
      folder / "out",
      {"sources=[{suite: charts, level: 3, prompts: 1}, {suite: charts, level: 3, role: verifier, prompts: 1}]",
       "steps=1", "samples=2", "evaluation.every=1", "evaluation.tasks=8", "evaluation.metric=score_auc"});
  REQUIRE(train(config, Resume::no, go));
  const auto metrics = record::RunReader::open(config.output)->metrics();
  CHECK(metrics.contains("eval/validation/charts-3/score_auc"));
  CHECK_FALSE(metrics.contains("eval/validation/charts-3-verifier/score_auc"));
  CHECK_FALSE(std::filesystem::exists(config.output / "best"));
}

TEST_CASE("train: sources of the same tasks in the same words are evaluated once") {
  const int level = env::Suite("charts").info().default_level;
  const std::string with_level = fmt::format("{{suite: charts, level: {}", level);
  const TrainConfig config =
      config_with("unused", {"sources=[{suite: charts}, " + with_level + "}, {suite: charts, level: 3}, " + with_level +
                             ", two_turn: true}, {suite: charts, two_turn: true}, " + with_level +
                             ", two_turn: true, reexamine: Again}, {suite: charts, role: verifier}]"});
  std::vector<std::string> names;
  for (const auto& [name, source] : evaluated_sources(config.sources)) names.push_back(name);
  const std::string two_turn = fmt::format("charts-{}-two-turn", level);
  CHECK((names == std::vector<std::string>{"charts", "charts-3", two_turn, two_turn + "-2", "charts-verifier"}));
}

TEST_CASE("train: a folder that holds a run needs Resume::yes, and the same config") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  const std::vector<std::string> small{"steps=1", "evaluation={every: 0}", "sources=[{suite: charts, prompts: 1}]"};
  REQUIRE(train(config_with(folder.path() / "a", small), Resume::no, go));
  CHECK_THROWS_WITH(train(config_with(folder.path() / "a", small), Resume::no, go), Catch::Contains("--resume"));
  std::vector<std::string> other = small;
  other.push_back("seed=5");
  CHECK_THROWS_WITH(train(config_with(folder.path() / "a", other), Resume::yes, go), Catch::Contains("seed"));
}

TEST_CASE("train: checkpoints of another model are refused with the tensors that do not fit") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  const std::vector<std::string> small{"steps=1", "evaluation={every: 0}", "sources=[{suite: charts, prompts: 1}]"};
  const TrainConfig config = config_with(folder.path() / "a", small);
  REQUIRE(train(config, Resume::no, go));
  const std::filesystem::path other = agon::test::golden_path("generation/model/model.safetensors");
  std::filesystem::copy_file(other, config.output / "checkpoint/model.safetensors",
                             std::filesystem::copy_options::overwrite_existing);
  CHECK_THROWS_WITH(train(config, Resume::yes, go), Catch::Contains("do not fit"));
}

TEST_CASE("train: a damaged checkpoint is named") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  const TrainConfig config =
      config_with(folder.path() / "a", {"steps=1", "evaluation={every: 0}", "sources=[{suite: charts, prompts: 1}]"});
  REQUIRE(train(config, Resume::no, go));
  for (const char* damaged : {"", "{", "[]", R"({"step": 1})", R"({"step": 1, "begun": "yes"})"}) {
    write_file_atomically((config.output / "checkpoint/state.json").string(), damaged);
    CHECK_THROWS_WITH(train(config, Resume::yes, go), Catch::Contains("state.json: the checkpoint is damaged"));
  }
}

TEST_CASE("train: the gradient of each method's loss is that of finite differences", "[long]") {
  const std::string method =
      GENERATE("grpo", "dapo", "rloo", "dr_grpo", "adpo", "adpo_binary", "adpo_entangled", "lora");
  INFO(method);
  at::set_num_threads(1);
  const std::string lora = method == "lora" ? "lora.rank=4" : "lora.rank=0";
  FirstStep step(config_with("unused", {"method=" + (method == "lora" ? "grpo" : method), "credit.kl=0.1", lora}));
  move_weights(step.model, step.model.trained(), 0.001);  // off the reference and the old policy
  step.loss();
  std::vector<at::Tensor> gradient;
  double square = 0;
  for (const at::Tensor& weight : step.model.trained()) {
    gradient.push_back(weight.grad().defined() ? weight.grad().clone() : at::zeros_like(weight));
    square += gradient.back().square().sum().item<double>();
  }
  REQUIRE(square > 0);
  const double factor = std::min(1e-4 / square, 1e-3 / std::sqrt(square));
  move_weights(step.model, gradient, factor);
  const double above = step.loss();
  move_weights(step.model, gradient, -2 * factor);
  const double below = step.loss();
  CHECK((above - below) / (2 * factor) == Approx(square).epsilon(0.02));
}

TEST_CASE("train: the step does not depend on how the batch is cut into passes") {
  const auto weights_after = [](int rows) {
    FirstStep step(config_with("unused", {"method=dapo", "loss.rows_per_pass=" + std::to_string(rows)}));
    step.loss();
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& weight : step.model.trained()) gradients.push_back(weight.grad().clone());
    return gradients;
  };
  const auto together = weights_after(1 << 20), apart = weights_after(1);
  for (std::size_t i = 0; i < together.size(); ++i)
    CHECK((together[i] - apart[i]).norm().item<double>() <= 1e-4 * together[i].norm().item<double>() + 1e-7);
}

TEST_CASE("train: in bfloat16 the gradient points where that in fp32 does, on weights that stay fp32") {
  const auto gradient_in = [](const std::string& precision) {
    FirstStep step(config_with("unused", {"precision=" + precision, "credit.kl=0.1"}));
    move_weights(step.model, step.model.trained(), 0.001);
    step.loss();
    std::vector<at::Tensor> parts;
    for (const at::Tensor& weight : step.model.trained()) {
      CHECK(weight.scalar_type() == at::kFloat);
      parts.push_back(weight.grad().flatten());
    }
    return at::cat(parts);
  };
  const at::Tensor exact = gradient_in("auto"), rough = gradient_in("bfloat16");
  CHECK(rough.dot(exact).item<double>() > 0.98 * rough.norm().item<double>() * exact.norm().item<double>());
  CHECK(rough.norm().item<double>() == Approx(exact.norm().item<double>()).epsilon(0.1));
  CHECK((rough - exact).norm().item<double>() > 1e-4 * exact.norm().item<double>());  // the two really differ
}

TEST_CASE("train: a GPU that is not there is said at the start") {
  if (torch::cuda::is_available()) return;
  const TrainConfig config = config_with("unused", {"device=cuda"});
  CHECK(config.bfloat16);
  CHECK_THROWS_WITH(TrainModel(config, open_model_folder(config.policy)), Catch::Contains("'device' is cuda, but"));
}

TEST_CASE("train: the engine's log-probabilities are those of the model under training") {
  FirstStep step(
      config_with("unused", {"sources=[{suite: phone, prompts: 2}, {suite: charts, two_turn: true, prompts: 2}]"}));
  const auto again = step.model.reference_logprobs(step.all);
  double largest = 0;
  for (std::size_t g = 0; g < step.groups.size(); ++g)
    for (std::size_t r = 0; r < step.groups[g].rollouts.size() && !again[g].empty(); ++r) {
      const auto& written = step.groups[g].rollouts[r].logprobs;
      for (std::size_t t = 0; t < written.size(); ++t)
        if (written[t] != 0) largest = std::max(largest, std::abs(static_cast<double>(written[t] - again[g][r][t])));
    }
  CHECK(largest > 0);
  CHECK(largest < 1e-3);
}

TEST_CASE("train: an engine that shares the training's weights plays with those of every step") {
  const TempFolder folder;
  const std::string lora = GENERATE("lora.rank=0", "lora.rank=4");
  const TrainConfig config = config_with(
      folder / lora, {"engine=device", lora, "steps=3", "evaluation.every=0", "optimizer.learning_rate=0.001"});
  const std::atomic<bool> go = false;
  REQUIRE(train(config, Resume::no, go));
  CHECK(differ(config.output / "model", kModel));
  const auto ratios = record::RunReader::open(config.output)->metrics()["policy/ratio"];
  REQUIRE(ratios.size() >= 2);  // a step without rewards trains nothing
  for (const auto& [step, ratio] : ratios) CHECK(ratio == Approx(1).margin(1e-4));
}

TEST_CASE("train: solver, refiner and verifier of one suite make one batch with shared weights") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  const TrainConfig config =
      config_with(folder.path() / "out",
                  {"sources=[{suite: charts, level: 3, prompts: 2}, {suite: charts, level: 3, role: refiner, "
                   "prompts: 2}, {suite: charts, level: 3, role: verifier, prompts: 2}]",
                   "steps=2", "record_every=1", "evaluation.every=2"});
  CHECK(config.sources[2].label() == "charts-3-verifier");
  REQUIRE(train(config, Resume::no, go));
  CHECK(differ(config.output / "model", kModel));
  const auto run = record::RunReader::open(config.output);
  std::map<std::string, int> episodes;
  run->for_each(
      [&](const record::Episode& episode) {
        const std::string last = episode.task_id.substr(episode.task_id.rfind('/') + 1);
        ++episodes[last == "refiner" || last == "verifier" ? last : "solver"];
      },
      record::RunReader::Detail::without_turns);
  CHECK((episodes == std::map<std::string, int>{{"solver", 16}, {"refiner", 16}, {"verifier", 16}}));
  for (const char* label : {"charts-3", "charts-3-refiner", "charts-3-verifier"})
    CHECK(run->metrics().contains("eval/validation/" + std::string(label) + "/pass_at_1"));
}

TEST_CASE("train: a turn after the expert's is learned, the expert's own are not") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  const TrainConfig config = config_with(
      folder.path() / "out", {"sources=[{suite: phone, prompts: 6, expert_turn: paper}]", "steps=1",
                              "rewards={accuracy: 1, format: 1}", "record_every=1", "evaluation={every: 0}"});
  REQUIRE(train(config, Resume::no, go));
  std::size_t given = 0;
  record::RunReader::open(config.output)
      ->for_each(
          [&](const record::Episode& episode) {
            for (const record::Turn& turn : episode.turns) {
              given += turn.given;
              CHECK(turn.credit.weight.size() == turn.token_ids.size());
              CHECK(turn.token_ids.empty() == turn.given);
            }
          },
          record::RunReader::Detail::without_images);
  CHECK(given > 0);
}

TEST_CASE("train: equal rewards of answers cut at the limit train nothing and stop nothing") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  const TrainConfig config = config_with(folder.path() / "out", {"sampling.max_tokens=2", "steps=2"});
  REQUIRE(train(config, Resume::no, go));
  CHECK_FALSE(differ(config.output / "model", kModel));
}

// Copies agon-tiny and makes it end turns with `token` as often as with <|im_end|>: both have the same row of the
// embedding, and its folder names both as end tokens.
void copy_model_that_writes(const char* token, const std::filesystem::path& folder) {
  std::filesystem::copy(kModel, folder);
  const ModelFolder parts = open_model_folder(kModel);
  const auto file = SafetensorsFile::open(std::filesystem::path(kModel) / "model.safetensors");
  std::map<std::string, TensorView> tensors = file->tensors();
  for (auto& [name, view] : tensors) {
    if (!name.ends_with("embed_tokens.weight") && name != "lm_head.weight") continue;
    static std::vector<std::uint8_t> bytes;
    bytes.assign(view.bytes.begin(), view.bytes.end());
    const std::size_t row = bytes.size() / static_cast<std::size_t>(view.shape.at(0));
    const auto at = [&](const char* id) {
      return bytes.begin() + static_cast<std::ptrdiff_t>(row) * parts.tokenizer->id_of(id).value();
    };
    std::copy_n(at("<|im_end|>"), row, at(token));
    view.bytes = bytes;
  }
  write_safetensors(folder / "model.safetensors", tensors, file->metadata());
  const std::string names = folder / "generation_config.json";
  Json json = Json::parse(read_file(names));
  json["eos_token_id"] = {parts.tokenizer->id_of("<|im_end|>").value(), parts.tokenizer->id_of(token).value()};
  write_file_atomically(names, json.dump());
}

void copy_model_of_context(int tokens, const std::filesystem::path& folder) {
  std::filesystem::copy(kModel, folder);
  const std::string file = folder / "config.json";
  Json json = Json::parse(read_file(file));
  json["text_config"]["max_position_embeddings"] = tokens;
  write_file_atomically(file, json.dump());
}

TEST_CASE("train: turns that end with the second end token are learned from") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  copy_model_that_writes("<|endoftext|>", folder / "model");
  const TrainConfig config = config_with(
      folder / "out", {"policy=" + (folder / "model").string(), "steps=2", "record_every=1", "evaluation.every=0",
                       "sources=[{suite: charts, level: 3, two_turn: true, prompts: 4}]"});
  REQUIRE(train(config, Resume::no, go));
  const std::int32_t second = open_model_folder(kModel).tokenizer->id_of("<|endoftext|>").value();
  int ended = 0;
  const auto run = record::RunReader::open(config.output);
  run->for_each(
      [&](const record::Episode& episode) {
        CHECK(episode.turns.size() == 2);
        ended += !episode.turns.front().token_ids.empty() && episode.turns.front().token_ids.back() == second;
      },
      record::RunReader::Detail::without_images);
  CHECK(ended > 4);
  CHECK(run->metrics().at("groups/failed").back().second == 0);
  CHECK(differ(config.output / "model", folder / "model"));
}

TEST_CASE("train: groups with an image token of no picture are counted and left out, and the training ends") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  copy_model_that_writes("<|image_pad|>", folder / "model");
  const TrainConfig config =
      config_with(folder / "out", {"policy=" + (folder / "model").string(), "steps=3", "samples=2",
                                   "evaluation.every=0", "sources=[{suite: charts, level: 3, prompts: 12}]"});
  REQUIRE(train(config, Resume::no, go));
  double failed = 0;
  const auto run = record::RunReader::open(config.output);
  const auto metrics = run->metrics();
  for (const auto& [step, value] : metrics.at("groups/failed")) failed += value;
  CHECK(failed > 0);
  CHECK(failed < 36);
}

TEST_CASE("train: rewards that are not finite, or that no task gives, stop it with a reason") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  CHECK_THROWS_WITH(
      train(config_with(folder.path() / "a", {"rewards.accuracy=1e308", "rewards.format=1e308"}), Resume::no, go),
      Catch::Contains("finite"));
  CHECK_THROWS_WITH(train(config_with(folder.path() / "b", {"rewards.charm=1"}), Resume::no, go),
                    Catch::Contains("charm"));
  CHECK_THROWS_WITH(weighted_reward({{"accuracy", std::nan("")}}, {{"accuracy", 1}}), Catch::Contains("finite"));
}

TEST_CASE("train: a second answer that the context does not hold is a wrong one") {
  const TempFolder folder;
  std::atomic<bool> go = false;
  copy_model_of_context(300, folder / "model");
  const TrainConfig config = config_with(
      folder / "out", {"policy=" + (folder / "model").string(), "method=" + std::string(GENERATE("grpo", "adapo")),
                       "steps=1", "samples=2", "sampling.temperature=20", "sampling.max_tokens=250", "record_every=1",
                       "evaluation.every=0", "sources=[{suite: charts, level: 3, two_turn: true, prompts: 2}]"});
  REQUIRE(train(config, Resume::no, go));
  int cut = 0;
  const auto run = record::RunReader::open(config.output);
  run->for_each(
      [&](const record::Episode& episode) {
        if (episode.turns.size() == 2) return;
        ++cut;
        CHECK(reward_components(episode).at("accuracy") == 0);
        CHECK(record::turns_correct(episode).at(1) == false);
      },
      record::RunReader::Detail::without_images);
  CHECK(cut > 0);
  CHECK(run->metrics().at("groups/failed").back().second == 0);
}

TEST_CASE("train: a group that cannot be given credit is counted and left out") {
  // Only right answers have a reward that is too large; the first task has no right answer.
  const TempFolder folder;
  std::atomic<bool> go = false;
  const TrainConfig config =
      config_with(folder / "out", {"rewards.accuracy=1e31", "steps=1", "samples=2", "sampling.temperature=2",
                                   "evaluation.every=0", "sources=[{suite: charts, level: 3, prompts: 24}]"});
  REQUIRE(train(config, Resume::no, go));
  const double failed = record::RunReader::open(config.output)->metrics().at("groups/failed").back().second;
  CHECK((failed > 0 && failed < 24));
}

TEST_CASE("train: masks that select no token change nothing and are said") {
  // star learns from second answers that correct a wrong first one; at this level there are none.
  const TempFolder folder;
  std::atomic<bool> go = false;
  const TrainConfig config = config_with(
      folder.path() / "out",
      {"method=star", "steps=2", "sources=[{suite: charts, level: 3, two_turn: true, prompts: 1}]", "samples=2"});
  REQUIRE(train(config, Resume::no, go));
  CHECK_FALSE(differ(config.output / "model", kModel));
  CHECK(record::RunReader::open(config.output)->metrics().at("groups/filtered").back().second == 1);
}

TEST_CASE("train: a choice of tasks that is stopped changes nothing, one that is too small is refused") {
  std::vector<std::string> changes{"sources=[{suite: charts, level: 3, prompts: 3}]", "filter.offline=true",
                                   "filter.offline_tasks=60", "samples=4"};
  const TrainConfig config = config_with("unused", changes);
  const ModelFolder folder = open_model_folder(config.policy);
  const auto policy = make_local_policy(folder.path);
  TaskSource source(config, 0, folder);
  const Json before = source.position();
  const std::atomic<bool> stop = true, go = false;
  source.choose_tasks(*policy, &stop);
  CHECK(source.position() == before);
  source.choose_tasks(*policy, &go);
  const auto chosen = source.position().at("chosen").get<std::vector<std::uint64_t>>();
  CHECK(chosen.size() >= 3);
  CHECK(std::set<std::uint64_t>(chosen.begin(), chosen.end()).size() == chosen.size());
  changes[2] = "filter.offline_tasks=2";
  const TrainConfig small = config_with("unused", changes);
  CHECK_THROWS_WITH(TaskSource(small, 0, folder).choose_tasks(*policy, &go), Catch::Contains("a step plays 3"));
}
