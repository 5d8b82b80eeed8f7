// Rounds of self-play: which models play, which games are trained on, and that an interrupted run ends like an
// undisturbed one. Players are scripted: a model folder holds its name and the hash of its training data.
#include <fmt/format.h>
#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "actor.h"
#include "agents/remote/endpoint.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/rng.h"
#include "core/text.h"
#include "critic/self_play/rounds.h"
#include "critic/self_play/solver_check.h"
#include "env/verdict.h"
#include "record/journal_entry.h"
#include "record/run_reader.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::critic;
namespace fs = std::filesystem;

namespace {

struct Broken {};  // in place of a kill

struct Lesson {
  std::string start, output;
  std::vector<agents::OfflineSample> samples;
};

// A folder with C0, S0 and a solver, the run, and a log of everything that happens to its models.
class World {
 public:
  explicit World(std::uint64_t games = 34) {
    for (const char* name : {"c0", "s0", "solver"}) write_model(folder_ / name, name);
    config.output = folder_ / "run";
    config.critic = folder_ / "c0";
    config.sneaky = folder_ / "s0";
    config.solvers = {folder_ / "solver"};
    config.sources.resize(1);
    config.sources[0].suite = env::Suite("charts", {.level = 1});
    config.sources[0].games = games;
    config.imitation = false;
    config.source = {{"rounds", 2}};
    const auto env = env::make_env("charts", {.level = 1});
    for (std::uint64_t number = 0; number < 2 * games; ++number)
      if (const auto challenge = draw_challenge(*env, "charts", "", config.seed, number))
        answers_[picture_of(challenge->right.messages)] = challenge->env->task().gold.get<std::string>();
  }

  // at: the call of a model at which it is stopped, or breaks.
  bool play(int stop_at = -1, int break_at = -1) {
    stop_ = false;
    calls = 0;
    stop_at_ = stop_at;
    break_at_ = break_at;
    return self_play(config, true, stop_,
                     {[this](const fs::path& model) { return open(model); },
                      [this](const agents::OfflineConfig& learning, const auto& samples, const std::atomic<bool>&) {
                        return teach(learning, samples);
                      }});
  }

  // The complete result of a run.
  std::vector<std::string> outcome() const {
    std::vector<std::string> all;
    const auto run = record::RunReader::open(config.output);
    for (const record::JournalEntry& entry : run->journal_ends("game"))
      all.push_back(fmt::format("{} {}", entry.task_index, entry.body.dump()));
    for (const char* model : {"round-1/critic", "round-1/sneaky", "round-2/critic", "round-2/sneaky"})
      all.push_back(read_file((config.output / model / "model.safetensors").string()));
    const Json summary = run->summary();
    for (const Json& round : summary.at("rounds")) all.push_back(round.at("win_rate").dump());
    return all;
  }
  std::vector<Json> games(int round) const {
    std::vector<Json> all;
    for (const record::JournalEntry& entry : record::RunReader::open(config.output)->journal_ends("game"))
      if (entry.body.at("round") == round) all.push_back(entry.body);
    return all;
  }
  // Restores the state after a kill between two transactions, before any training.
  void forget_games(const std::string& which) {
    for (const char* round : {"round-1", "round-2"}) fs::remove_all(config.output / round);
    change("DELETE FROM journal WHERE " + which);
  }
  void change(const std::string& sql) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open((config.output / "run.sqlite").c_str(), &database) == SQLITE_OK);
    CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    CHECK(sqlite3_changes(database) > 0);
    sqlite3_close(database);
  }

  void rewrite_model(const std::string& name) const { write_model(folder_ / name, name + ", taught again"); }

  static std::string picture_of(const std::vector<Message>& messages) {
    for (const Message& message : messages)
      for (const Part& part : message.parts)
        if (part.is_image()) return part.image.hash().hex();
    return {};
  }

  SelfPlayConfig config;
  std::vector<Lesson> lessons;
  std::map<fs::path, int> opened;
  int calls = 0;

 private:
  static void write_model(const fs::path& folder, const std::string& content) {
    fs::create_directories(folder);
    write_file_atomically((folder / "model.safetensors").string(), content);
  }
  std::string name_of(const fs::path& model) const {
    if (agents::names_endpoint(model.string())) return "solver";
    const std::string name = model.lexically_relative(folder_.path()).string();
    return name + " " + fmt::format("{:016x}", hash_text(read_file((model / "model.safetensors").string())));
  }

  void call() {
    if (calls == break_at_) throw Broken{};
    if (calls++ == stop_at_) stop_ = true;
  }

  // A player that draws its texts by its name, the seed of the request and the sample alone.
  std::unique_ptr<agents::Policy> open(const fs::path& model) {
    struct Player : test::Actor {
      Player(World& world, Says says) : Actor(std::move(says)), world_(world) {}
      std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
        world_.call();
        return Actor::complete(requests);
      }
      agents::Capabilities capabilities() const override {
        return {.name = "player", .images = true, .max_context = 1 << 20};
      }
      World& world_;
    };
    const std::string name = name_of(model);
    ++opened[model];
    return std::make_unique<Player>(*this, [this, name](const agents::CompletionRequest& request, int sample) {
      Rng rng = Rng::derive(request.sampling.seed, name, {}, static_cast<std::uint64_t>(sample));
      if (name.starts_with("solver")) return solve(request, rng);
      if (name.find("s0") == 0 || name.find("sneaky") != std::string::npos)
        return env::sneaky_text(env::ErrorKind::misread_value, "",
                                (rng.chance(0.2) ? "harmless, says " : "poison, says ") + name);
      return name + " " + env::tagged(rng.chance(0.5) ? env::StepVerdict::correct : env::StepVerdict::incorrect);
    });
  }

  std::string solve(const agents::CompletionRequest& request, Rng& rng) const {
    const bool right = request.prefix.find("poison") == std::string::npos && rng.chance(0.9);
    return "<answer>" + (right ? answers_.at(picture_of(request.messages)) : "never") + "</answer>";
  }

  bool teach(const agents::OfflineConfig& learning, const std::vector<agents::OfflineSample>& samples) {
    call();
    if (stop_) return false;
    const auto name = [&](const fs::path& model) { return model.lexically_relative(folder_.path()).string(); };
    lessons.push_back({name(learning.start), name(learning.output), samples});
    std::string seen = read_file((learning.start / "model.safetensors").string());
    for (const agents::OfflineSample& one : samples)
      seen += fmt::format("\n{} {} {}", one.response, one.reward, one.group);
    write_model(learning.output, fmt::format("{:016x}", hash_text(seen)));
    return true;
  }

  const test::TempFolder folder_;
  std::map<std::string, std::string> answers_;  // by picture
  std::atomic<bool> stop_ = false;
  int stop_at_ = -1, break_at_ = -1;
};

// The models that wrote the steps, or the critiques, of a round's games.
std::set<std::string> writers(const std::vector<Json>& games, bool critics) {
  std::set<std::string> names;
  for (const Json& game : games) {
    const auto text = critics ? game.at("right_verdicts").at(0).at("critique").get<std::string>()
                              : game.at("sneaky_step").get<std::string>();
    const std::size_t begin = critics ? 0 : text.find("says ") + 5;
    names.insert(text.substr(begin, text.find(' ', begin) - begin));
  }
  return names;
}

}  // namespace

TEST_CASE("self-play: the new generator meets the first critic, or that of the round before") {
  const Pairing pairing = GENERATE(Pairing::asymmetric, Pairing::synchronous);
  World world;
  world.config.pairing = pairing;
  REQUIRE(world.play());
  using Names = std::set<std::string>;
  CHECK(writers(world.games(1), false) == Names{"s0"});
  CHECK(writers(world.games(1), true) == Names{"c0"});
  CHECK(writers(world.games(2), false) == Names{"run/round-1/sneaky"});
  CHECK(writers(world.games(2), true) == Names{pairing == Pairing::asymmetric ? "c0" : "run/round-1/critic"});
  REQUIRE(world.lessons.size() == 4);
  CHECK(world.lessons[0].start == "c0");
  CHECK(world.lessons[1].start == "s0");
  CHECK(world.lessons[2].start == "c0");  // every critic is trained from the first one
  CHECK(world.lessons[3].start == "run/round-1/sneaky");
  CHECK(world.lessons[3].output == "run/round-2/sneaky");
}

TEST_CASE("self-play: a critic learns from the games of all rounds, or of its own alone") {
  World mixed, apart;
  apart.config.mix_rounds = false;
  mixed.config.lessons.pairs = apart.config.lessons.pairs =
      false;  // with pairs, steps fill up over all rounds together
  REQUIRE((mixed.play() && apart.play()));
  const auto critiques = [](const World& world, int lesson) {
    std::vector<std::string> texts;
    for (const auto& sample : world.lessons.at(static_cast<std::size_t>(lesson)).samples)
      texts.push_back(sample.messages.back().text() + sample.response);
    return texts;
  };
  CHECK(critiques(mixed, 0) == critiques(apart, 0));
  std::vector<std::string> both = critiques(mixed, 0);
  for (const std::string& text : critiques(apart, 2)) both.push_back(text);
  CHECK(critiques(mixed, 2) == both);
  CHECK(mixed.lessons[3].samples.size() == apart.lessons[3].samples.size());  // of a generator: its own round only
}

TEST_CASE("self-play: stopped or broken at any call of a model, it goes on to the same games and models") {
  World whole;
  REQUIRE(whole.play());
  const int calls = whole.calls;
  REQUIRE(calls >= 2 * 2 * 3 + 4);
  for (int at = 0; at < calls; at += AGON_SANITIZED ? 5 : 1) {
    INFO("call " << at << " of " << calls);
    World stopped, broken;
    CHECK_FALSE(stopped.play(at));
    CHECK(stopped.play());
    CHECK(stopped.outcome() == whole.outcome());
    CHECK_THROWS_AS(broken.play(-1, at), Broken);
    CHECK(broken.play());
    CHECK(broken.outcome() == whole.outcome());
  }
}

TEST_CASE("self-play: the examples of each round and source are tasks of their own, the same after a stop") {
  World whole, stopped;
  for (World* world : {&whole, &stopped}) {
    world->config.imitation = true;
    world->config.sources[0].games /= 2;
    world->config.sources.resize(2, world->config.sources[0]);
  }
  REQUIRE(whole.play());
  std::multiset<std::string> shown;
  for (const std::size_t lesson : {1, 3})  // lessons of the generator
    for (const agents::OfflineSample& one : whole.lessons.at(lesson).samples)
      if (one.imitated) shown.insert(World::picture_of(one.messages) + one.messages.back().text());
  CHECK(shown.size() > 8);
  CHECK(shown.size() == std::set(shown.begin(), shown.end()).size());
  CHECK_FALSE(stopped.play(whole.calls - 1));
  CHECK(stopped.play());
  CHECK(stopped.outcome() == whole.outcome());
}

TEST_CASE("self-play: games that were lost in the middle of a batch are played again as they were") {
  World world;
  REQUIRE(world.play());
  const auto expected = world.outcome();
  for (const char* which : {"task_index % 3 = 1", "task_index = 5", "task_index > 20 AND task_index <> 40"}) {
    INFO(which);
    world.forget_games(which);
    REQUIRE(world.play());
    CHECK(world.outcome() == expected);
  }
}

TEST_CASE("self-play goes on with other threads, and not with other models in the same folders") {
  for (const auto& [model, key] :
       {std::pair{"c0", "files.critic"}, std::pair{"s0", "files.sneaky"}, std::pair{"solver", "files.solvers"}}) {
    World world;
    world.config.source["learning"] = {{"threads", 1}};
    REQUIRE(world.play());
    world.config.source["learning"] = {{"threads", 2}};
    CHECK(world.play());
    world.config.source.erase("learning");
    CHECK(world.play());
    world.rewrite_model(model);
    CHECK_THROWS_WITH(world.play(), Catch::Contains(key));
  }
}

TEST_CASE("self-play: a damaged game is told with its run and number") {
  World world;
  REQUIRE(world.play());
  world.change("UPDATE journal SET body = json_remove(body, '$.rates') WHERE task_index = 3");
  CHECK_THROWS_WITH(world.play(), Catch::Contains("run: game 3 is damaged"));
  world.change("UPDATE journal SET body = 'no json' WHERE task_index = 4");
  CHECK_THROWS_WITH(world.play(), Catch::Contains("entry 0 (game) of the journal of task 4 is damaged"));
}

TEST_CASE("self-play: a solver's server is asked once for all rounds what it can") {
  World world(4);
  world.config.solvers = {"http://127.0.0.1:9/v1"};
  REQUIRE(world.play());
  CHECK(world.opened[world.config.solvers.front()] == 1);
}

TEST_CASE("self-play: a solver that cannot write the rest of a turn is refused before anything is played") {
  const env::Suite charts("charts", {.level = 1});
  agents::Capabilities solver{.name = "x", .images = true, .logprobs = true, .score = true};
  CHECK_NOTHROW(require_solver(solver, charts));
  solver.continues_pictures = false;
  CHECK_THROWS_WITH(require_solver(solver, charts), Catch::Contains("behind a picture"));
  solver.continues = false;
  CHECK_THROWS_WITH(require_solver(solver, charts),
                    Catch::Contains("x cannot continue a turn that has begun. Use a server"));
  solver = {.name = "x"};
  CHECK_THROWS_WITH(require_solver(solver, charts),
                    Catch::Contains("the tasks of charts have pictures, and x takes none"));

  World world(4);
  world.config.solvers = {"http://127.0.0.1:9/v1"};  // nobody listens there
  const std::atomic<bool> never = false;
  CHECK_THROWS_WITH(self_play(world.config, false, never, local_workshop()), Catch::Contains("does not answer"));
  CHECK_FALSE(fs::exists(world.config.output));
}
