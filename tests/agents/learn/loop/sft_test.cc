#include "agents/learn/loop/sft.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "agents/engine/local_policy.h"
#include "agents/hub/safetensors.h"
#include "agents/learn/data/sft/answers.h"
#include "agents/learn/data/sft/data.h"
#include "agents/learn/data/sft/queue.h"
#include "agents/learn/data/sft/written.h"
#include "agents/learn/loop/sft_score.h"
#include "core/file.h"
#include "core/text.h"
#include "env/protocol.h"
#include "env/suite.h"
#include "env/verdict.h"
#include "env/wrappers/critic_role.h"
#include "error_of.h"
#include "paths.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;

namespace {

struct ScratchFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("agon_sft_" + std::to_string(::getpid()));
  ScratchFolder() { std::filesystem::create_directories(path); }
  ~ScratchFolder() { std::filesystem::remove_all(path); }
};

std::string config_text(const std::string& output, int steps) {
  return "output: " + output +
         "\nseed: 3\nsources: [{suite: charts, episodes: 4}, {suite: phone, level: 1, episodes: 2}]\nvocabulary: "
         "300\n" +
         "steps: " + std::to_string(steps) + R"(
warmup_steps: 1
learning_rate: 0.003
checkpoint_steps: 2
threads: 1
model:
  model_type: qwen2_5_vl
  vision_config: {depth: 1, hidden_size: 32, intermediate_size: 32, num_heads: 2, out_hidden_size: 32, in_channels: 3, patch_size: 14,
                  temporal_patch_size: 2, spatial_merge_size: 2, window_size: 112, fullatt_block_indexes: [0]}
  hidden_size: 32
  intermediate_size: 64
  num_hidden_layers: 1
  num_attention_heads: 2
  num_key_value_heads: 1
  max_position_embeddings: 1024
  rms_norm_eps: 0.000001
  rope_theta: 100
  rope_scaling: {type: mrope, mrope_section: [2, 3, 3]}
  tie_word_embeddings: true
)";
}

// A training run that continues from the model of config_text(start, ...).
std::string continued_text(const std::string& output, const std::string& start, int steps) {
  return "output: " + output + "\nstart: " + start +
         "\nseed: 3\nsources: [{suite: charts, episodes: 4, two_turn: true}, {suite: charts, episodes: 2}]\nsteps: " +
         std::to_string(steps) + "\nwarmup_steps: 1\nlearning_rate: 0.001\ncheckpoint_steps: 2\nthreads: 1\n";
}

std::filesystem::path write_config(const ScratchFolder& scratch, const std::string& name, const std::string& text) {
  const auto file = scratch.path / (name + ".yaml");
  std::ofstream(file) << text;
  return file;
}

std::string sft_error(const std::filesystem::path& file) {
  return test::error_of([&] { load_sft_config(file); });
}

std::vector<double> losses(const std::filesystem::path& folder) {
  std::vector<double> all;
  for (const std::string& line : split(read_file((folder / "train.jsonl").string()), "\n"))
    if (!line.empty()) all.push_back(Json::parse(line)["loss"]["charts"].get<double>());
  return all;
}

}  // namespace

TEST_CASE("a demonstration trains what the policy wrote and nothing else") {
  const ScratchFolder scratch;
  const SftConfig config = load_sft_config(write_config(scratch, "a", config_text("a", 2)));
  const std::vector<std::string> classes = object_classes(config.sources);
  const auto env = env::make_env("charts");
  Rng rng(1);
  const Demonstration demonstration = demonstrate_task(*env, "Say it.", classes, {3, 11, 0}, rng);
  REQUIRE(demonstration.messages.size() == 3);
  REQUIRE(demonstration.scenes.size() == 1);
  REQUIRE_FALSE(demonstration.scenes[0].empty());
  const std::string said = demonstration.messages.back().text();
  REQUIRE(env::extract_answer(said).has_value());
  REQUIRE(env::extract_score(said).has_value());

  std::atomic<bool> stop = false;
  REQUIRE(train_sft(config, stop));
  const ModelFolder folder = open_model_folder(config.output);
  const SftSequence sequence = encode_demonstration(demonstration, folder);
  std::vector<std::int32_t> trained;
  for (std::size_t i = 0; i < sequence.ids.size(); ++i)
    if (sequence.trained[i]) trained.push_back(sequence.ids[i]);
  REQUIRE(trained.back() == folder.config.eos_token_ids.front());
  trained.pop_back();
  REQUIRE(folder.tokenizer->decode(trained) == said);
}

TEST_CASE("an interrupted training goes on and ends with the very weights of an undisturbed one", "[long]") {
  const ScratchFolder scratch;
  const SftConfig whole = load_sft_config(write_config(scratch, "whole", config_text("whole", 40)));
  const SftConfig parts = load_sft_config(write_config(scratch, "parts", config_text("parts", 40)));
  std::atomic<bool> go = false;
  REQUIRE(train_sft(whole, go));
  std::atomic<bool> stop = false;
  std::jthread watcher([&] {
    while (!std::filesystem::exists(parts.output / "train.jsonl") || losses(parts.output).size() < 3)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop = true;
  });
  REQUIRE_FALSE(train_sft(parts, stop));
  REQUIRE(train_sft(parts, go));
  const auto a = SafetensorsFile::open(whole.output / "model.safetensors"),
             b = SafetensorsFile::open(parts.output / "model.safetensors");
  REQUIRE(a->tensors().size() == b->tensors().size());
  for (const auto& [name, view] : a->tensors()) {
    INFO(name);
    REQUIRE(std::equal(view.bytes.begin(), view.bytes.end(), b->tensors().at(name).bytes.begin()));
  }
}

TEST_CASE("a two-turn demonstration shows the first answer that it is given and trains the expert's second one") {
  const ModelFolder folder = open_model_folder(agon::test::source_path("models/agon-tiny"));
  const auto env = env::make_env("charts", {.two_turn = true});
  DemonstrationOptions options{3, 11};
  options.first_answer = Message::of(Role::assistant, "red is 2\n\n<answer>no</answer>");
  options.first_answer->token_ids = folder.tokenizer->encode("red is 2\n\n<answer>no</answer>", false);
  Rng rng(1);
  const Demonstration demonstration = demonstrate_task(*env, "Say it.", {}, options, rng);
  REQUIRE(demonstration.messages.size() == 5);  // system, task, first answer, re-examine, second answer
  REQUIRE(demonstration.messages[2].text() == "red is 2\n\n<answer>no</answer>");
  REQUIRE(demonstration.messages[3].text().find("There might be an error") == 0);
  REQUIRE(env::extract_answer(demonstration.messages[4].text()) == env->task().gold.get<std::string>());
  REQUIRE(demonstration.trained == std::vector<bool>{false, true});
  const SftSequence sequence = encode_demonstration(demonstration, folder, TrainedScores::no);
  std::vector<std::int32_t> trained;
  for (std::size_t i = 0; i < sequence.ids.size(); ++i)
    if (sequence.trained[i]) trained.push_back(sequence.ids[i]);
  REQUIRE(trained.back() == folder.config.eos_token_ids.front());
  trained.pop_back();
  std::string said = demonstration.messages[4].text();
  const std::string score = "<score>";
  said.erase(said.find(score) + score.size(), 3);  // its digits are not trained
  REQUIRE(folder.tokenizer->decode(trained).substr(0, said.size() - 10) == said.substr(0, said.size() - 10));
}

TEST_CASE("a training run goes on from a model, and shows that model's own first answers", "[long]") {
  const ScratchFolder scratch;
  std::atomic<bool> stop = false;
  REQUIRE(train_sft(load_sft_config(write_config(scratch, "first", config_text("first", 60))), stop));
  const SftConfig config = load_sft_config(write_config(scratch, "next", continued_text("next", "first", 6)));
  REQUIRE(config.auxiliary_weight == 0);
  REQUIRE(train_sft(config, stop));
  REQUIRE(losses(config.output).front() < 0.7 * losses(scratch.path / "first").front());
  REQUIRE(read_file(config.output / "tokenizer.json") == read_file(scratch.path / "first/tokenizer.json"));
  const auto logged = Json::parse(split(read_file(config.output / "train.jsonl"), "\n").front());
  REQUIRE(logged["loss"].contains("charts two-turn"));
  const auto again = write_config(scratch, "again", continued_text("again", "first", 6));
  REQUIRE(train_sft(load_sft_config(again), stop));
  REQUIRE(read_file(scratch.path / "again/model.safetensors") == read_file(config.output / "model.safetensors"));
}

TEST_CASE("the first answers that are shown are one sample a train task, in order") {
  const std::filesystem::path model = agon::test::source_path("models/agon-tiny");
  const auto policy = make_local_policy(model);
  const std::vector<FirstAnswer> answers = sample_first_answers(*policy, env::Suite("charts", {.level = 1}), 3, 0, 12);
  REQUIRE(answers.size() == 12);
  int answered = 0;  // at temperature 1 a sample may not answer
  for (std::size_t i = 0; i < answers.size(); ++i) {
    REQUIRE(answers[i].task == i);
    answered += env::extract_answer(answers[i].message.text()).has_value();
    REQUIRE_FALSE(answers[i].message.token_ids.empty());
  }
  REQUIRE(answered >= 10);
}

TEST_CASE("steps that a model wrote are shown to a critic, as many right ones as wrong ones of each sort", "[long]") {
  const std::filesystem::path model = agon::test::source_path("models/agon-tiny");
  const auto policy = make_local_policy(model);
  const SftSource source{
      .suite = env::Suite("charts", {.level = 2, .role = "critic"}), .level = 2, .writer = model, .written_tasks = 600};
  const std::vector<WrittenStep> steps = sample_written_steps(*policy, source, 3, 0);
  REQUIRE(steps.size() >= 200);
  const auto env = env::make_env("charts", {.level = 2});
  std::vector<std::size_t> written;  // steps of each task's turn
  for (const record::Episode& episode : play_train_tasks(*policy, source.solver(), 3, 0, 600, 1))
    written.push_back(env::split_steps(episode.turns.at(0).text).size());
  std::map<std::pair<std::string, std::size_t>, int> balance;  // by kind of task and distance from the turn's end
  std::map<bool, std::size_t> selections;  // their distance from the end does not depend on the number of bars
  for (const WrittenStep& step : steps) {
    REQUIRE(step.task < 600);
    const Demonstration shown = demonstrate_written(*env, step, 3);
    const std::size_t place = env::split_steps(step.query.before).size();
    balance[{env->task().kind, written.at(step.task) - place}] += step.correct ? 1 : -1;
    selections[step.correct] += step.query.step.find(':') != std::string::npos;
    REQUIRE(shown.messages.size() == 3);
    REQUIRE(shown.messages[0].text() == env::kCriticInstructions);
    REQUIRE(shown.messages[1].text().ends_with("## Last Step\n" + step.query.step));
    const auto verdict = env::parse_verdict(shown.messages[2].text()).verdict;
    REQUIRE(verdict == (step.correct ? env::StepVerdict::correct : env::StepVerdict::incorrect));
  }
  for (const auto& [place, difference] : balance) CHECK(difference == 0);
  CHECK(selections[true] > 10);
  CHECK(std::max(selections[true], selections[false]) < 1.2 * std::min(selections[true], selections[false]));
  SftSource few = source;
  few.written_tasks = 60;
  const std::vector<WrittenStep> once = sample_written_steps(*policy, few, 3, 0),
                                 again = sample_written_steps(*policy, few, 3, 0);
  REQUIRE(once.size() == again.size());
  for (std::size_t i = 0; i < once.size(); ++i) REQUIRE(once[i].query.step == again[i].query.step);
  WrittenStep other = steps.front();
  other.correct = !other.correct;
  REQUIRE_THROWS_WITH(demonstrate_written(*env, other, 3), Catch::Contains("has another verdict"));
}

TEST_CASE("a training run whose critic is shown a model's steps is the same when it resumes", "[long]") {
  const ScratchFolder scratch;
  const std::string model = agon::test::source_path("models/agon-tiny");
  const std::string text = "start: " + model +
                           "\nseed: 3\nsources: [{suite: charts, role: critic, episodes: 4, writer: " + model +
                           ", written_tasks: 40}]\nsteps: 4\nwarmup_steps: 1\ncheckpoint_steps: 2\nthreads: 1\n";
  std::atomic<bool> stop = false;
  REQUIRE(train_sft(load_sft_config(write_config(scratch, "a", "output: a\n" + text)), stop));
  const SftConfig config = load_sft_config(write_config(scratch, "b", "output: b\n" + text));
  std::jthread stopper([&] {
    while (!std::filesystem::exists(config.output / "train.jsonl")) std::this_thread::yield();
    stop = true;
  });
  train_sft(config, stop);
  stopper.join();
  stop = false;
  REQUIRE(train_sft(config, stop));
  REQUIRE(read_file(scratch.path / "a/model.safetensors") == read_file(scratch.path / "b/model.safetensors"));
}

TEST_CASE("sources of one suite and level show tasks of their own") {
  const ScratchFolder scratch;
  std::string text = config_text("twins", 5);
  const std::string sources = "[{suite: charts, episodes: 4}, {suite: phone, level: 1, episodes: 2}]";
  text.replace(text.find(sources), sources.size(),
               "[{suite: charts, episodes: 3}, {suite: charts, episodes: 3}, {suite: charts, level: 1, episodes: 3}]");
  const SftConfig config = load_sft_config(write_config(scratch, "twins", text));
  CHECK(config.first_task(0) == 0);
  CHECK(config.first_task(1) > 0);
  CHECK(config.first_task(2) == 0);  // another level draws other tasks by itself
  const std::string by_number = fmt::format("sources.1.level={}", config.sources[1].suite.options().level);
  const SftConfig spelled = load_sft_config(write_config(scratch, "twins", text), {&by_number, 1});
  CHECK(spelled.first_task(1) > 0);  // the default, by its number
  const ModelFolder folder = open_model_folder(agon::test::source_path("models/agon-tiny"));
  BatchQueue::Shown shown;
  shown.first_answers.resize(3);
  shown.written_steps.resize(3);
  BatchQueue queue(config, folder, object_classes(config.sources), shown, 0, 5, TrainedScores::yes);
  for (int step = 0; step < 5; ++step) {
    const std::vector<SftBatch> batches = queue.next();
    CHECK_FALSE(batches[0].patches.equal(batches[1].patches));
    CHECK_FALSE(batches[0].patches.equal(batches[2].patches));
    CHECK_FALSE(batches[0].targets.equal(batches[1].targets));
  }
}

TEST_CASE("training lowers the loss", "[long]") {
  const ScratchFolder scratch;
  const SftConfig config = load_sft_config(write_config(scratch, "c", config_text("c", 60)));
  std::atomic<bool> stop = false;
  REQUIRE(train_sft(config, stop));
  const std::vector<double> all = losses(config.output);
  REQUIRE(all.size() == 60);
  REQUIRE(all.back() < 0.7 * all.front());
}

TEST_CASE("an expert's answer is scored, a turn that is whole already stays as it is") {
  Rng rng(1);
  for (const char* turn : {"<think>a</think>\n\n<answer>7</answer>", "<search>Tarn</search>", "<code>x</code>",
                           "<think>a</think><problem>{'dark'}</problem>", "red is 3 = 3\n\n<Answer>Correct</Answer>",
                           "<type>calculation</type>\n\n<step>2 + 2 = 5</step>"})
    CHECK(scored_answer(turn, rng) == turn);
  for (const char* answer : {"7", "red is 3\n\n<answer>7</answer>"}) {
    const std::string scored = scored_answer(answer, rng);
    CHECK(env::extract_answer(scored) == "7");
    CHECK(env::extract_score(scored).has_value());
  }
}

TEST_CASE("after an answer of the model, the score stage trains the score and nothing else") {
  const std::filesystem::path model = agon::test::source_path("models/agon-tiny");
  const ModelFolder folder = open_model_folder(model);
  const std::unique_ptr<Policy> policy = make_local_policy(model);
  const std::string suite = GENERATE("charts", "phone");
  std::set<int> digits;
  const std::vector<ScoredAnswer> answers = sample_answers(*policy, {.suite = env::Suite(suite)}, 3, 100, 8, 3);
  REQUIRE(answers.size() >= 12);
  for (const ScoredAnswer& answer : answers) {
    digits.insert(answer.digit);
    const SftSequence sequence = encode_scored(answer, folder);
    std::vector<std::int32_t> trained;
    for (std::size_t i = 0; i < sequence.ids.size(); ++i)
      if (sequence.trained[i]) trained.push_back(sequence.ids[i]);
    REQUIRE(trained.back() == folder.config.eos_token_ids.front());
    trained.pop_back();
    REQUIRE(folder.tokenizer->decode(trained) == "<score>0." + std::to_string(answer.digit) + "</score>");
    REQUIRE(sequence.images.size() == (answer.turns.messages.size() - 1) / 2);  // one per user message
  }
  REQUIRE(digits.size() >= 2);
}

TEST_CASE("answers to be scored are sampled until there is a stop") {
  const std::unique_ptr<Policy> policy = make_local_policy(agon::test::source_path("models/agon-tiny"));
  std::atomic<bool> stop{true};
  REQUIRE(sample_answers(*policy, {.suite = env::Suite("charts")}, 3, 100, 8, 3, &stop).empty());
}

TEST_CASE("a score is the mean of the answer's outcome and its task's") {
  REQUIRE(score_digit(true, 1) == 9);
  REQUIRE(score_digit(false, 0) == 1);
  REQUIRE(score_digit(true, 0.25) == 6);
  REQUIRE(score_digit(false, 0.75) == 4);
  REQUIRE(score_digit(true, 0.5) == 8);
}

TEST_CASE("a score stage without an answer to score says what to do") {
  const ScratchFolder scratch;
  const SftConfig config =
      load_sft_config(write_config(scratch, "d", config_text("d", 2) + "score_steps: 2\nscore_tasks: 1\n"));
  std::atomic<bool> stop = false;
  REQUIRE_THROWS_WITH(train_sft(config, stop), Catch::Contains("'score_steps' to 0"));
}

TEST_CASE("an output folder with a model of somebody else's is refused and stays as it is") {
  const ScratchFolder scratch;
  const SftConfig config = load_sft_config(write_config(scratch, "e", config_text("e", 2)));
  std::filesystem::create_directories(config.output);
  std::ofstream(config.output / "config.json") << "{}";
  std::atomic<bool> stop = false;
  REQUIRE_THROWS_WITH(train_sft(config, stop),
                      Catch::Contains("holds a config.json that this training run did not write"));
  REQUIRE(read_file(config.output / "config.json") == "{}");
}

TEST_CASE("after a kill the figures of the steps since the checkpoint are written once", "[long]") {
  const ScratchFolder scratch;
  const SftConfig config = load_sft_config(write_config(scratch, "f", config_text("f", 7)));
  std::atomic<bool> stop = false;
  REQUIRE(train_sft(config, stop));
  const auto log = config.output / "train.jsonl", state = config.output / "checkpoint/state.json";
  Json back = Json::parse(read_file(state));
  back["step"] = 4;  // as if killed after the checkpoint of step 4
  write_file_atomically(state, back.dump());
  std::ofstream(log, std::ios::app) << "{\"step\": 7, \"lo";
  REQUIRE(train_sft(config, stop));
  std::vector<std::int64_t> steps;
  for (const std::string& line : split(read_file(log), "\n"))
    if (!line.empty()) steps.push_back(Json::parse(line)["step"].get<std::int64_t>());
  REQUIRE(steps == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a checkpoint of another config is refused with the key that differs", "[long]") {
  const ScratchFolder scratch;
  std::atomic<bool> stop = false;
  train_sft(load_sft_config(write_config(scratch, "d", config_text("d", 2))), stop);
  const SftConfig other = load_sft_config(write_config(scratch, "d", config_text("d", 3)));
  REQUIRE_THROWS_WITH(train_sft(other, stop), Catch::Contains("'steps' is 2 there, 3 now"));
}

TEST_CASE("a bad config is refused with its key") {
  const ScratchFolder scratch;
  const std::string good = config_text("e", 2);
  REQUIRE(sft_error(write_config(scratch, "e", good)).empty());
  REQUIRE_THAT(sft_error(write_config(scratch, "e", good + "lerning_rate: 1\n")), Catch::Contains("learning_rate"));
  const auto with = [&](const std::string& key, const std::string& value) {
    std::string text = good;
    const std::size_t at = text.find("\n" + key + ": ") + 1;
    return sft_error(write_config(scratch, "e", text.replace(at, text.find('\n', at) - at, key + ": " + value)));
  };
  REQUIRE_THAT(with("seed", "[1]"), Catch::Contains("'seed'"));
  const auto adding = [&](const std::string& line) {
    return sft_error(write_config(scratch, "e", good + line + "\n"));
  };
  REQUIRE_THAT(adding("clip_norm: 0"), Catch::Contains("'clip_norm' must be above 0, got 0"));
  REQUIRE_THAT(adding("clip_norm: -1"), Catch::Contains("'clip_norm' must be above 0, got -1"));
  REQUIRE_THAT(adding("final_rate: -5"), Catch::Contains("'final_rate' must lie in [0, 1], got -5"));
  REQUIRE_THAT(adding("beta1: 1"), Catch::Contains("'beta1' must lie in [0, 1), got 1"));
  REQUIRE_THAT(adding("beta2: 1.5"), Catch::Contains("'beta2' must lie in [0, 1), got 1.5"));
  REQUIRE_THAT(adding("weight_decay: -1"), Catch::Contains("'weight_decay' must be at least 0, got -1"));
  REQUIRE_THAT(adding("auxiliary_weight: -3"), Catch::Contains("'auxiliary_weight' must be at least 0"));
  REQUIRE_THAT(adding("score_steps: 1\nscore_learning_rate: -1"),
               Catch::Contains("'score_learning_rate' must be above 0"));
  REQUIRE_THAT(with("threads", "-2"), Catch::Contains("between 0 and 1024"));
  REQUIRE_THAT(sft_error(write_config(scratch, "e", good + "threads: 2\n")),
               Catch::Contains("'threads' is given twice"));
  REQUIRE_THAT(sft_error(write_config(scratch, "e", good + "---\nthreads: 2\n")), Catch::Contains("2 YAML documents"));
  REQUIRE_THAT(sft_error(write_config(scratch, "e", "output: x\n")), Catch::Contains("sources"));
  REQUIRE_THAT(sft_error(write_config(scratch, "e", good + "start: e\n")), Catch::Contains("'model' comes with"));
  REQUIRE_THAT(sft_error(write_config(scratch, "e", "output: x\nsources: [{suite: charts}]\n")),
               Catch::Contains("'model' is missing") && Catch::Contains("'start'"));
  std::string two_turn = good;
  two_turn.insert(two_turn.find("episodes: 4") + 11, ", two_turn: true");
  REQUIRE_THAT(sft_error(write_config(scratch, "e", two_turn)), Catch::Contains("needs 'start'"));
  REQUIRE_THAT(sft_error(write_config(
                   scratch, "e", "output: x\nstart: y\nsources: [{suite: charts, two_turn: true, detours: 0.5}]\n")),
               Catch::Contains("'detours' does nothing with two_turn"));
  const auto with_writer = [&](const std::string& keys) {
    return sft_error(write_config(scratch, "e", "output: x\nstart: y\nsources: [{suite: charts, " + keys + "}]\n"));
  };
  REQUIRE(with_writer("role: critic, writer: y") == "");
  REQUIRE_THAT(with_writer("writer: y"), Catch::Contains("is for role critic"));
  REQUIRE_THAT(with_writer("role: critic, writer: y, written_tasks: 0"), Catch::Contains("at least 1, got 0"));
  REQUIRE_THAT(sft_error(write_config(scratch, "e", "- 1\n")), Catch::Contains("expected keys"));
  REQUIRE_THAT(sft_error(write_config(scratch, "e", "a: [\n")), Catch::Contains("not YAML"));
  REQUIRE_THAT(sft_error(scratch.path / "none.yaml"), Catch::Contains("none.yaml"));
}
