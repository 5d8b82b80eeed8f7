#include "critic/reward_model/judge_training.h"

#include <algorithm>
#include <numeric>

#include "agents/learn/loop/checkpoint_folder.h"
#include "agents/model_fingerprint.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_parse.h"
#include "core/provenance.h"
#include "core/text.h"
#include "critic/reward_model/card.h"
#include "critic/reward_model/judge.h"
#include "critic/reward_model/mixture.h"
#include "record/run_database.h"

namespace agon::critic {
namespace {

std::string verdict(std::size_t letter) {
  return fmt::format("[[{}]]", static_cast<char>('A' + static_cast<int>(letter)));
}

agents::OfflineSample lesson(std::vector<Message> messages, std::size_t letter) {
  return {.messages = std::move(messages), .response = verdict(letter), .imitated = true};
}

// The sets whose responses have different ranks.
std::vector<Preference> telling_sets(const RewardTrainingConfig& config) {
  std::vector<Preference> sets;
  std::set<std::string> categories;
  for (const std::filesystem::path& file : config.data)
    for (Preference& one : read_preferences(file)) {
      categories.insert(one.category);
      if (!without_order(one)) sets.push_back(std::move(one));
    }
  require_categories(config.weights, categories);
  if (config.judge == JudgeForm::choice)
    require_each("train-rm", sets, [](const Candidates& set) { require_letters(set.responses.size()); });
  if (sets.empty())
    throw Error("train-rm: nothing to train on: in every set of the {} files all responses have the same rank.",
                config.data.size());
  return sets;
}

// The notes of the finished judge in the output folder, made by this training; null if there is none yet.
Json finished(const std::filesystem::path& folder, const std::string& training, const Json& settings) {
  const std::filesystem::path file = folder / agents::kJudgeFile;
  if (!std::filesystem::exists(file)) return {};
  Json notes = json_or_discarded(read_file(file.string()));
  for (const char* key : {"samples", "sets", "steps", "training"})
    if (!notes.is_object() || !notes.contains(key))
      throw Error("train-rm: {} is damaged: it has no '{}'. Remove the folder to train again.", file.string(), key);
  Json told = notes;
  if (notes.contains("config"))
    told["settings"] = training_settings(notes["config"], notes.value(kProvenance, Json::object()));
  agents::require_own_training(told, training, "train-rm", file, settings);
  return notes;
}

}  // namespace

agents::OfflineSample pair_lesson(const Preference& preference, Rng& rng) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // first and second response of the request
  for (std::size_t i = 0; i < preference.rank.size(); ++i)
    for (std::size_t k = 0; k < preference.rank.size(); ++k)
      if (preference.rank[i] != preference.rank[k]) pairs.emplace_back(i, k);
  const auto [first, second] = rng.pick(pairs);
  return lesson(pair_request(preference.messages, preference.responses[first], preference.responses[second]),
                preference.rank[first] < preference.rank[second] ? 0 : 1);
}

agents::OfflineSample choice_lesson(const Preference& preference, Rng& rng) {
  std::vector<std::size_t> order(preference.rank.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  rng.shuffle(order);
  std::vector<std::string> responses;
  for (const std::size_t place : order) responses.push_back(preference.responses[place]);
  const auto best = std::ranges::find_if(order, [&](std::size_t place) { return preference.rank[place] == 1; });
  return lesson(choice_request(preference.messages, responses), static_cast<std::size_t>(best - order.begin()));
}

Json train_judge(const RewardTrainingConfig& config, const std::atomic<bool>& stop) {
  const std::string training = training_fingerprint(config, agents::model_fingerprint(config.network.base));
  const Json made_from = training_provenance(config), settings = training_settings(config.source, made_from);
  if (Json notes = finished(config.output, training, settings); !notes.is_null()) {
    agents::remove_checkpoint(config.output);  // left by a training run that was killed just before
    return notes;
  }
  const std::vector<Preference> sets = telling_sets(config);
  std::vector<std::string> categories;
  for (const Preference& one : sets) categories.push_back(one.category);
  std::vector<agents::OfflineSample> lessons;
  for (int epoch = 0; epoch < config.epochs; ++epoch) {
    Rng rng = Rng::derive(config.seed, "judge lessons", {}, static_cast<std::uint64_t>(epoch));
    for (const std::size_t place : mixed_epoch(categories, config.weights, config.seed, epoch))
      lessons.push_back(config.judge == JudgeForm::pairs ? pair_lesson(sets[place], rng)
                                                         : choice_lesson(sets[place], rng));
  }
  agents::require_no_other(config.output, "train-rm");
  agents::make_output(config.output);
  const record::FolderLock lock(config.output);
  agents::OfflineConfig learning;
  learning.name = "train-rm";
  learning.notes = {{"command", "train-rm"}, {"settings", settings}};
  learning.start = config.network.base;
  learning.output = config.output;
  learning.seed = config.seed;
  learning.epochs = 1;
  learning.batch = config.batch;
  learning.learning_rate = config.learning_rate;
  learning.weight_decay = config.weight_decay;
  learning.clip_norm = config.clip_norm;
  learning.loss = {.imitation_weight = 1};
  learning.checkpoint_steps = config.checkpoint_steps;
  learning.threads = config.threads;
  agents::OfflineFigures figures;
  if (!agents::train_offline(learning, lessons, stop, &figures)) return {};
  const Json notes{{"config", config.source}, {"samples", lessons.size()}, {"sets", sets.size()},
                   {"steps", figures.steps},  {"training", training},      {kProvenance, made_from}};
  write_judge_card(config.output, config, notes);
  write_file_atomically((config.output / agents::kJudgeFile).string(), notes.dump(2) + "\n");
  agents::remove_checkpoint(config.output);
  return notes;
}

}  // namespace agon::critic
