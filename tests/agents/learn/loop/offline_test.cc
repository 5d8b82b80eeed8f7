#include "agents/learn/loop/offline.h"

#include <fstream>

#include "agents/engine/local_policy.h"
#include "agents/learn/loop/checkpoint_folder.h"
#include "core/file.h"
#include "core/text.h"
#include "paths.h"
#include "record/episode_store.h"
#include "record/run_reader.h"
#include "temp_folder.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;

namespace {

const std::filesystem::path kStart = agon::test::golden_path("generation/model");

OfflineSample sample(const std::string& question, const std::string& response, double reward, std::int64_t group) {
  return {{Message::of(Role::user, question)}, response, reward, group, false};
}

std::vector<OfflineSample> win_and_loss() {
  return {sample("one or two?", "one", 1, 0), sample("one or two?", "two", -1, 0), sample("up or down?", "up", 1, 1),
          sample("up or down?", "down", -1, 1)};
}

OfflineConfig config_into(const std::filesystem::path& output) {
  OfflineConfig config;
  config.start = kStart;
  config.output = output;
  config.epochs = 6;
  config.batch = 2;
  config.learning_rate = 3e-3;
  config.checkpoint_steps = 4;
  config.threads = 1;
  return config;
}

// Log-probability of the first response minus that of the second.
double preference(const std::filesystem::path& model) {
  const auto policy = make_local_policy(model);
  const Message question = Message::of(Role::user, "one or two?");
  const std::vector<ScoreRequest> requests = {{{question}, {}, 1.0, "one"}, {{question}, {}, 1.0, "two"}};
  const auto scores = policy->score(requests);
  const auto mean_of = [](const TokenScores& score) {
    double sum = 0;
    for (const float one : score.logprobs) sum += static_cast<double>(one);
    return sum / static_cast<double>(score.logprobs.size());
  };
  return mean_of(scores.at(0)) - mean_of(scores.at(1));
}

}  // namespace

TEST_CASE("Offline training prefers what won, and imitates what it is shown") {
  const test::TempFolder folder;
  const std::atomic<bool> stop = false;
  OfflineFigures figures;
  REQUIRE(train_offline(config_into(folder / "rl"), win_and_loss(), stop, &figures));
  CHECK(figures.steps == 12);
  CHECK(figures.first.loss > figures.last.loss);
  CHECK(preference(folder / "rl") > preference(kStart));

  std::vector<OfflineSample> shown = {sample("one or two?", "two", 0, 0)};
  shown[0].imitated = true;
  OfflineConfig config = config_into(folder / "sft");
  config.loss.imitation_weight = 1;
  config.checkpoint_steps = 100;
  REQUIRE(train_offline(config, shown, stop));
  CHECK(std::filesystem::exists(folder / "sft/checkpoint/state.json"));  // it names the command that trained the model
  CHECK(preference(folder / "sft") < preference(kStart));
}

TEST_CASE("A checkpoint that was removed does not come back in parts") {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder / "checkpoint");
  std::filesystem::create_directories(folder / "checkpoint.old");  // left by a swap that was killed at its end
  remove_checkpoint(folder.path());
  CHECK(find_checkpoint(folder.path()).empty());
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("Only a run without anything in it is removed, at whatever moment it was killed") {
  const test::TempFolder folder;
  const auto database = folder / "run.sqlite";
  const Json config{{"steps", 3}};
  { const auto store = record::EpisodeStore::create(folder.path(), config, false); }
  remove_empty_run(folder.path());
  CHECK_FALSE(std::filesystem::exists(database));
  write_file_atomically(database.string(), "");  // killed before its schema was made
  remove_empty_run(folder.path());
  CHECK_FALSE(std::filesystem::exists(database));

  {
    const auto store = record::EpisodeStore::create(folder.path(), config, false);
    store->record_entry({7, 0, "game", Json::object(), {}});  // from self-play, before the end of its first round
    store->flush();
  }
  remove_empty_run(folder.path());
  CHECK(record::RunReader::open(folder.path())->journal(7).size() == 1);

  const test::TempFolder other;
  write_file_atomically((other / "run.sqlite").string(), "no database, but somebody's work");
  CHECK_THROWS_WITH(remove_empty_run(other.path()), Catch::Contains("is damaged"));
  CHECK(std::filesystem::exists(other / "run.sqlite"));
}

TEST_CASE("Offline training that would change nothing is refused") {
  const test::TempFolder folder;
  const std::vector<OfflineSample> equal = {sample("one or two?", "one", 1, 0), sample("one or two?", "two", 1, 0)};
  CHECK_THROWS_WITH(train_offline(config_into(folder / "rl"), equal, false),
                    Catch::Contains("the rewards of 2 responses do not differ"));
}

TEST_CASE("Offline training that is stopped goes on to the same weights") {
  const test::TempFolder folder;
  const std::atomic<bool> never = false, at_once = true;
  OfflineFigures whole, cut;
  REQUIRE(train_offline(config_into(folder / "whole"), win_and_loss(), never, &whole));
  OfflineConfig config = config_into(folder / "cut");
  CHECK_FALSE(train_offline(config, win_and_loss(), at_once));
  REQUIRE(train_offline(config, win_and_loss(), never));
  // The last checkpoint is after the first epoch of two steps and before the last epoch.
  REQUIRE(train_offline(config, win_and_loss(), never, &cut));
  CHECK((cut.first.loss == whole.first.loss && cut.last.loss == whole.last.loss && cut.steps == whole.steps));
  CHECK((cut.first.imitation == whole.first.imitation && cut.first.ratio == whole.first.ratio));
  CHECK(read_file((folder / "cut/model.safetensors").string()) ==
        read_file((folder / "whole/model.safetensors").string()));

  CHECK_FALSE(train_offline(config_into(folder / "other"), win_and_loss(), at_once));
  std::vector<OfflineSample> others = win_and_loss();
  others[0].reward = -1;
  CHECK_THROWS_WITH(train_offline(config_into(folder / "other"), others, never),
                    Catch::Contains("another training run"));
  // If killed before the caller recorded its end, training resumes from the last checkpoint and nothing is lost.
  REQUIRE(std::filesystem::exists(folder / "cut/checkpoint/state.json"));
  REQUIRE(train_offline(config, win_and_loss(), never));
  CHECK(read_file((folder / "cut/model.safetensors").string()) ==
        read_file((folder / "whole/model.safetensors").string()));
  CHECK_THROWS_WITH(train_offline(config_into(folder / "none"), {}, never), Catch::Contains("nothing to train"));
}
