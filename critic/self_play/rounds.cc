#include "critic/self_play/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "agents/config_reader.h"
#include "agents/engine/local_policy.h"
#include "agents/learn/loop/checkpoint_folder.h"
#include "agents/model_fingerprint.h"
#include "agents/open_policy.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "core/rng.h"
#include "critic/self_play/solver_check.h"
#include "env/suite.h"
#include "record/episode_store.h"
#include "record/journal_entry.h"
#include "record/run_reader.h"
#include "record/run_schema.h"

namespace agon::critic {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kGamesAtOnce = 32;
constexpr const char* kGame = "game";

Json fingerprints(const std::vector<fs::path>& models) {
  Json list = Json::array();
  for (const fs::path& model : models) list.push_back(agents::policy_source(model.string()).fingerprint());
  return list;
}

// The config that a resumed run must match: the file's keys, except those that change no result, and hashes of the
// models.
Json stored_config(const SelfPlayConfig& config) {
  Json json = config.source;
  json.erase("output");  // a moved run is still the same run
  if (const auto learning = json.find("learning"); learning != json.end() && learning->is_object()) {
    learning->erase("threads");
    if (learning->empty()) json.erase("learning");
  }
  json["files"] = {{"critic", agents::model_fingerprint(config.critic)},
                   {"sneaky", agents::model_fingerprint(config.sneaky)},
                   {"solvers", fingerprints(config.solvers)}};
  for (std::size_t i = 0; i < config.sources.size(); ++i)
    if (const GameSource& source = config.sources[i]; !source.solvers.empty())
      json["files"][fmt::format("solvers of source {}", i)] = fingerprints(source.solvers);
  const auto record = [](const fs::path& model) {
    const agents::PolicySource source = agents::policy_source(model.string());
    if (source.endpoint) return to_json(*source.endpoint);
    return Json{{"path", fs::absolute(model).lexically_normal().string()}, {"files", agents::model_fingerprint(model)}};
  };
  json[kProvenance] = {
      {"critic", record(config.critic)}, {"sneaky", record(config.sneaky)}, {"solvers", Json::array()}};
  for (const fs::path& solver : config.solvers) json[kProvenance]["solvers"].push_back(record(solver));
  return json;
}

using Policies = std::map<std::string, std::unique_ptr<agents::Policy>>;

agents::Policy* opened(Policies& policies, const fs::path& model, const ModelWorkshop& workshop) {
  auto& policy = policies[model.string()];
  if (!policy) policy = workshop.open(model);
  return policy.get();
}

// Opens the solvers that are servers. Throws if one lacks a capability that solvers need.
Policies required_servers(const SelfPlayConfig& config, const ModelWorkshop& workshop) {
  Policies servers;
  for (const GameSource& source : config.sources)
    for (const fs::path& solver : source.solvers.empty() ? config.solvers : source.solvers)
      if (agents::names_endpoint(solver.string()))
        require_solver(opened(servers, solver, workshop)->capabilities(), source.suite);
  return servers;
}

class SelfPlay {
 public:
  SelfPlay(const SelfPlayConfig& config, bool resume, const std::atomic<bool>& stop, const ModelWorkshop& workshop,
           Policies servers)
      : config_(config),
        stop_(stop),
        workshop_(workshop),
        servers_(std::move(servers)),
        store_(record::EpisodeStore::create(config.output, stored_config(config), resume)),
        reader_(record::RunReader::open(config.output)) {
    for (const GameSource& source : config.sources) envs_.push_back(source.suite.make_env());
    for (record::JournalEntry& entry : reader_->journal_ends(kGame))
      recorded_[entry.task_index] = std::move(entry.body);
  }

  bool run() {
    Json rounds = Json::array();
    for (int round = 1; round <= config_.rounds; ++round) {
      const std::vector<PlayedGame> games = play_round(round);
      if (stop_) return false;
      all_games_.insert(all_games_.end(), games.begin(), games.end());
      Json summary = figures_of(games);
      summary["round"] = round;
      if (!learn(round, games, summary)) return false;
      rounds.push_back(std::move(summary));
      record(round, rounds.back());
    }
    store_->finish({{"rounds", std::move(rounds)}});
    return true;
  }

 private:
  fs::path folder(int round, const char* player) const {
    return config_.output / fmt::format("round-{}", round) / player;
  }
  fs::path sneaky_of(int round) const { return round == 1 ? config_.sneaky : folder(round - 1, "sneaky"); }
  fs::path critic_of(int round) const {
    const bool first = round == 1 || config_.pairing == Pairing::asymmetric;
    return first ? config_.critic : folder(round - 1, "critic");
  }

  // Game numbers are unique over all rounds and sources.
  std::uint64_t key_of(int round, std::size_t source, std::uint64_t game) const {
    std::uint64_t key = 0;
    for (int r = 1; r <= round; ++r)
      for (std::size_t s = 0; s < config_.sources.size(); ++s) {
        if (r == round && s == source) return key + game;
        key += config_.sources[s].games;
      }
    return key;
  }

  // The players of a round. Its destruction unloads the models before the round's training.
  struct Table {
    const ModelWorkshop& workshop;
    Policies& servers;
    Policies models;
    agents::Policy* at(const fs::path& model) {
      return opened(agents::names_endpoint(model.string()) ? servers : models, model, workshop);
    }
  };

  std::vector<PlayedGame> play_round(int round) {
    Table table{workshop_, servers_, {}};
    std::vector<PlayedGame> games;
    std::uint64_t all = 0;
    for (const GameSource& source : config_.sources) all += source.games;
    Progress progress(fmt::format("self-play: games of round {}", round), static_cast<std::int64_t>(all), "games");
    for (std::size_t s = 0; s < config_.sources.size(); ++s) play_source(round, s, table, games, progress);
    store_->flush();
    std::ranges::sort(games, {}, [](const PlayedGame& game) { return game.challenge->number; });
    return games;
  }

  void play_source(int round, std::size_t s, Table& table, std::vector<PlayedGame>& games, Progress& progress) {
    const GameSource& source = config_.sources[s];
    std::vector<std::shared_ptr<const Challenge>> waiting;
    for (std::uint64_t g = 0; g < source.games && !stop_; ++g) {
      const std::uint64_t key = key_of(round, s, g);
      std::shared_ptr<const Challenge> challenge =
          draw_challenge(*envs_[s], source.suite.name(), source.suite.info().instructions, config_.seed, key,
                         opening(source, table, key));
      const auto known = recorded_.find(key);
      if (challenge && known != recorded_.end())
        games.push_back(recorded_game(known->second, std::move(challenge)));
      else if (challenge)
        waiting.push_back(std::move(challenge));
      if (waiting.size() == kGamesAtOnce) play(round, source, table, std::exchange(waiting, {}), games);
      progress.add(1);
    }
    if (!stop_ && !waiting.empty()) play(round, source, table, std::move(waiting), games);
  }

  const std::vector<fs::path>& solvers_of(const GameSource& source) const {
    return source.solvers.empty() ? config_.solvers : source.solvers;
  }

  Opening opening(const GameSource& source, Table& table, std::uint64_t key) const {
    if (!config_.own_solutions) return {};
    const std::vector<fs::path>& solvers = solvers_of(source);
    return {table.at(solvers[key % solvers.size()]), config_.games.max_tokens};
  }

  PlayedGame recorded_game(const Json& json, std::shared_ptr<const Challenge> challenge) const {
    const std::uint64_t number = challenge->number;
    try {
      return game_in(json, std::move(challenge));
    } catch (const Json::exception& exception) {
      throw Error("{}: game {} is damaged: {}. Restore the run from a copy.", config_.output.string(), number,
                  exception.what());
    }
  }

  void play(int round, const GameSource& source, Table& table, std::vector<std::shared_ptr<const Challenge>> challenges,
            std::vector<PlayedGame>& games) {
    Players players{table.at(sneaky_of(round)), table.at(critic_of(round)), {}};
    for (const fs::path& solver : solvers_of(source)) players.solvers.push_back(table.at(solver));
    GameOptions options = config_.games;
    options.seed = options.solvers.seed = config_.seed + static_cast<std::uint64_t>(round);
    for (PlayedGame& game : play_games(players, std::move(challenges), options)) {
      std::vector<Image> images;
      Json body = game_json(game, images);
      body["round"] = round;
      store_->record_entry({game.challenge->number, 0, kGame, std::move(body), std::move(images)});
      games.push_back(std::move(game));
    }
  }

  static Json figures_of(const std::vector<PlayedGame>& games) {
    std::map<Outcome, int> outcomes;
    std::vector<Game> plain;
    int mislabelled = 0;
    for (const PlayedGame& game : games) {
      ++outcomes[outcome_of(game.game)];
      mislabelled += is_valid(game) && does_harm(game.game.rates) && !is_wrong(game).value_or(true);
      plain.push_back(game.game);
    }
    Json figures{{"games", games.size()}};
    for (const Outcome outcome :
         {Outcome::invalid, Outcome::harmless, Outcome::caught, Outcome::fools, Outcome::unjudged})
      figures[std::string(to_string(outcome))] = outcomes[outcome];
    const double rate = win_rate(plain);
    figures["win_rate"] = rate == rate ? Json(rate) : Json();
    figures["mislabelled"] = mislabelled;
    return figures;
  }

  // Trains both players of the round, unless their models exist. False: stopped.
  bool learn(int round, const std::vector<PlayedGame>& games, Json& summary) {
    const CriticLessons critic = critic_lessons(config_.mix_rounds ? all_games_ : games, config_.lessons);
    const auto sneaky = sneaky_lessons(games, config_.seed + static_cast<std::uint64_t>(round), config_.solver_reward);
    if (!train(round, config_.critic, "critic", critic.samples, summary)) return false;
    summary["critic"].update({{"right", critic.right}, {"wrong", critic.wrong}});
    return train(round, sneaky_of(round), "sneaky", sneaky, summary);
  }

  bool train(int round, const fs::path& start, const char* role, std::vector<agents::OfflineSample> samples,
             Json& summary) {
    const fs::path output = folder(round, role);
    summary[role] = {{"samples", samples.size()}, {"model", output.string()}};
    if (fs::exists(output / "model.safetensors")) {
      agents::remove_checkpoint(output);
      return true;
    }
    if (samples.empty())
      throw Error(
          "self-play: no game teaches the {} anything: of {} games {} are invalid and {} harmless; with 'pairs', "
          "critiques of one step that all agree teach nothing either. Train a better sneaky generator, or play more "
          "'games'.",
          role, summary.at("games").dump(), summary.at("invalid").dump(), summary.at("harmless").dump());
    if (config_.imitation) add_examples(round, role, samples);
    agents::OfflineConfig learning = config_.learning;
    learning.start = start;
    learning.output = output;
    learning.seed = config_.seed;
    learning.notes = {{"command", "selfplay"}};
    if (!workshop_.teach(learning, samples, stop_)) return false;
    agents::remove_checkpoint(output);
    return true;
  }

  // Adds as many examples as there are samples. Each source contributes in proportion to its games, with different
  // examples in each round.
  void add_examples(int round, const char* role, std::vector<agents::OfflineSample>& samples) const {
    std::uint64_t games = 0;
    for (const GameSource& source : config_.sources) games += source.games;
    std::vector<agents::OfflineSample> examples;
    Progress progress(fmt::format("self-play: examples for the {}", role), std::ssize(config_.sources), "suites");
    for (std::size_t s = 0; s < config_.sources.size(); ++s) {
      const GameSource& source = config_.sources[s];
      const std::size_t count = samples.size() * source.games / games;
      const std::uint64_t seed =
          Rng::derive(config_.seed, "examples", std::to_string(s), static_cast<std::uint64_t>(round))();
      for (agents::OfflineSample& one : role_examples(source.suite.with_role(role), count, seed))
        examples.push_back(std::move(one));
      progress.add(1);
    }
    samples.insert(samples.end(), examples.begin(), examples.end());
  }

  void record(int round, const Json& summary) {
    record::Metrics metrics;
    for (const char* name : {"invalid", "harmless", "caught", "fools", "unjudged"})
      metrics.emplace_back(fmt::format("games/{}", name), summary.at(name).get<double>());
    if (summary.at("win_rate").is_number())
      metrics.emplace_back("games/win_rate", summary.at("win_rate").get<double>());
    store_->record_metrics(round, std::move(metrics));
    store_->flush();
  }

  const SelfPlayConfig& config_;
  const std::atomic<bool>& stop_;
  const ModelWorkshop& workshop_;
  Policies servers_;  // open over all rounds
  std::unique_ptr<record::EpisodeStore> store_;
  std::unique_ptr<record::RunReader> reader_;
  std::vector<std::unique_ptr<env::Env>> envs_;  // one per source
  std::map<std::uint64_t, Json> recorded_;
  std::vector<PlayedGame> all_games_;
};

}  // namespace

ModelWorkshop local_workshop() {
  return {[](const fs::path& model) {
            agents::PolicySource source = agents::policy_source(model.string());
            return agents::open_policy(source);
          },
          [](const agents::OfflineConfig& config, const std::vector<agents::OfflineSample>& samples,
             const std::atomic<bool>& stop) { return agents::train_offline(config, samples, stop); }};
}

bool self_play(const SelfPlayConfig& config, bool resume, const std::atomic<bool>& stop,
               const ModelWorkshop& workshop) {
  const bool is_new = !fs::exists(config.output / record::kRunDatabase);
  Policies servers = is_new ? required_servers(config, workshop) : Policies{};
  return SelfPlay(config, resume, stop, workshop, std::move(servers)).run();
}

std::string self_play_table(const Json& summary) {
  std::string table =
      fmt::format("{:>5} {:>6} {:>8} {:>9} {:>7} {:>6} {:>9} {:>12} {:>22} {:>16}\n", "round", "games", "invalid",
                  "harmless", "caught", "fools", "win rate", "mislabelled", "critic (right + wrong)", "sneaky lessons");
  for (const Json& round : summary.at("rounds")) {
    const auto count = [&](const char* key) { return round.at(key).get<std::int64_t>(); };
    const Json& rate = round.at("win_rate");
    table += fmt::format(
        "{:>5} {:>6} {:>8} {:>9} {:>7} {:>6} {:>9} {:>12} {:>22} {:>16}\n", count("round"), count("games"),
        count("invalid"), count("harmless"), count("caught"), count("fools"),
        rate.is_number() ? fmt::format("{:.3f}", rate.get<double>()) : "-", count("mislabelled"),
        fmt::format("{} ({} + {})", round.at("critic").at("samples").dump(),
                    round.at("critic").value("right", Json()).dump(), round.at("critic").value("wrong", Json()).dump()),
        round.at("sneaky").at("samples").dump());
  }
  return table;
}

}  // namespace agon::critic
