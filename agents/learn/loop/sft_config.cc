#include "agents/learn/loop/sft_config.h"

#include "agents/config_reader.h"
#include "agents/learn/loop/config_paths.h"
#include "agents/learn/loop/optimizer_config.h"
#include "agents/learn/loop/unused_keys.h"
#include "core/error.h"
#include "env/wrappers/critic_role.h"
#include "env/wrappers/sneaky_role.h"

namespace agon::agents {
namespace {

SftSource read_source(const Json& entry, const std::filesystem::path& path) {
  const std::string file = path.string();
  ConfigSection section(entry, "train-sft: " + file + ": sources");
  SftSource source;
  std::string suite, writer;
  env::SuiteOptions options;
  section.read("suite", suite);
  section.read("level", options.level);
  section.read("two_turn", options.two_turn);
  section.read("role", options.role);
  section.read("held_out", options.held_out);
  section.read("episodes", source.episodes);
  section.read("detours", source.detours);
  section.read("writer", writer);
  if (!writer.empty()) source.writer = from_working_folder(path, writer);
  section.read("written_tasks", source.written_tasks);
  section.check();
  if (!writer.empty() && options.role != env::kCritic)
    throw Error("train-sft: {}: 'writer' of '{}' is for role critic, which judges its steps", file, suite);
  if (source.written_tasks < 1)
    throw Error("train-sft: {}: written_tasks of '{}' must be at least 1, got {}", file, suite, source.written_tasks);
  if (source.episodes < 1)
    throw Error("train-sft: {}: episodes of '{}' must be at least 1, got {}", file, suite, source.episodes);
  if (source.detours < 0 || source.detours >= 1)
    throw Error("train-sft: {}: detours of '{}' must lie in [0, 1), got {}", file, suite, source.detours);
  source.suite = env::Suite(suite, options);
  source.level = options.level;
  return source;
}

std::vector<SftSource> read_sources(const Json* json, const std::filesystem::path& path) {
  const std::string file = path.string();
  if (!json || !json->is_array() || json->empty())
    throw Error("train-sft: {}: 'sources' must list at least one suite", file);
  std::vector<SftSource> sources;
  for (const Json& entry : *json) sources.push_back(read_source(entry, path));
  return sources;
}

// The model to train: fresh weights, or an existing model.
void read_model(ConfigSection& top, const Json& json, const std::filesystem::path& file, SftConfig& config) {
  std::string start;
  top.read("start", start);
  const Json* model = top.child("model");
  const Json* images = top.child("images");
  top.read("vocabulary", config.vocabulary);
  if (!start.empty()) {
    for (const char* key : {"model", "images", "vocabulary"})
      if (json.contains(key))
        throw Error("train-sft: {}: '{}' comes with the model folder 'start'. Leave it out.", file.string(), key);
    config.start = from_working_folder(file, start);
    config.auxiliary_weight = 0;
    return;
  }
  if (!model)
    throw Error("train-sft: {}: 'model' is missing: the keys of a Qwen2.5-VL config.json, or 'start': a model folder",
                file.string());
  Json complete = *model;  // the tokenizer, learned later, sets the true values
  complete["vocab_size"] = config.vocabulary;
  for (const char* key :
       {"image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id", "eos_token_id"})
    complete[key] = 0;
  config.model = parse_model_config(complete, file.string());
  if (images) config.images = parse_image_processor_config(*images, file.string());
}

void check_ranges(const SftConfig& config, const std::string& file) {
  const auto require = [&](bool holds, const std::string& rule) {
    if (!holds) throw Error("train-sft: {}: {}", file, rule);
  };
  require(config.steps >= 1, "'steps' must be at least 1");
  check_optimizer("train-sft: " + file, {.learning_rate = config.learning_rate,
                                         .final_rate = config.final_rate,
                                         .weight_decay = config.weight_decay,
                                         .beta1 = config.beta1,
                                         .beta2 = config.beta2,
                                         .clip_norm = config.clip_norm});
  require(config.score_learning_rate > 0, "'score_learning_rate' must be above 0");
  require(config.warmup_steps >= 0 && config.warmup_steps < config.steps,
          fmt::format("'warmup_steps' is {} and must lie between 0 and 'steps', which is {}", config.warmup_steps,
                      config.steps));
  require(config.checkpoint_steps >= 1, "'checkpoint_steps' must be at least 1");
  require(config.score_steps >= 0 && config.score_tasks >= 1,
          "'score_steps' must be at least 0 and 'score_tasks' at least 1");
  require(config.vocabulary >= 256, "'vocabulary' must be at least 256, one token a byte");
  for (const SftSource& source : config.sources)
    require(!source.suite.options().two_turn || !config.start.empty(),
            "a source with 'two_turn' needs 'start', the model folder whose first answers are shown");
  require(config.auxiliary_weight >= 0, "'auxiliary_weight' must be at least 0");
  require(config.auxiliary_until > 0 && config.auxiliary_until <= 1, "'auxiliary_until' must lie in (0, 1]");
}

void check_used(const SftConfig& config, const std::string& file) {
  const SftConfig standard;
  const SftSource plain;
  for (const SftSource& source : config.sources) {
    const env::SuiteOptions& options = source.suite.options();
    const bool judged = options.role == env::kCritic || options.role == env::kSneaky;
    const bool one_turn = source.suite.info().max_turns == 1;
    require_used(
        fmt::format("train-sft: {}: source {}", file, source.suite.name()),
        {{"held_out", !options.held_out.empty(), judged, "in role " + options.role, "choose role critic or sneaky"},
         {"held_out", !options.held_out.empty(), source.writer.empty(), "with a writer, whose steps have no kinds",
          "leave the writer out"},
         {"detours", source.detours > 0, !one_turn, "in episodes of one turn"},
         {"detours", source.detours > 0, !options.two_turn, "with two_turn, whose second answer ends the task"},
         {"written_tasks", source.written_tasks != plain.written_tasks, !source.writer.empty(), "without a writer",
          "name a writer"}});
  }
  require_used("train-sft: " + file,
               {{"score_tasks", config.score_tasks != standard.score_tasks, config.score_steps > 0,
                 "with score_steps: 0", "give score_steps"},
                {"score_learning_rate", config.score_learning_rate != standard.score_learning_rate,
                 config.score_steps > 0, "with score_steps: 0", "give score_steps"},
                {"auxiliary_until", config.auxiliary_until != standard.auxiliary_until, config.auxiliary_weight > 0,
                 "with auxiliary_weight: 0", "give an auxiliary_weight above 0"}});
}

}  // namespace

SftConfig load_sft_config(const std::filesystem::path& file, std::span<const std::string> changes) {
  Json json = read_config(file, changes, kSftPaths);
  SftConfig config;
  ConfigSection top(json, "train-sft: " + file.string());
  std::string output;
  top.read("output", output);
  if (output.empty()) throw Error("train-sft: {}: 'output' is missing: the model folder to write", file.string());
  config.output = from_working_folder(file, output);
  top.read("seed", config.seed);
  config.sources = read_sources(top.child("sources"), file);
  read_model(top, json, file, config);
  top.read("steps", config.steps);
  top.read("learning_rate", config.learning_rate);
  top.read("final_rate", config.final_rate);
  top.read("warmup_steps", config.warmup_steps);
  top.read("weight_decay", config.weight_decay);
  top.read("beta1", config.beta1);
  top.read("beta2", config.beta2);
  top.read("clip_norm", config.clip_norm);
  top.read("auxiliary_weight", config.auxiliary_weight);
  top.read("auxiliary_until", config.auxiliary_until);
  top.read("checkpoint_steps", config.checkpoint_steps);
  top.read("score_steps", config.score_steps);
  top.read("score_tasks", config.score_tasks);
  top.read("score_learning_rate", config.score_learning_rate);
  top.read_threads(config.threads);
  top.check();
  config.source = json;
  check_ranges(config, file.string());
  check_used(config, file.string());
  return config;
}

}  // namespace agon::agents
