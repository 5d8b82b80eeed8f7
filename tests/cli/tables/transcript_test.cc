#include "cli/tables/transcript.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "fixtures/episode.h"
#include "fixtures/training.h"
#include "record/run_reader.h"
#include "temp_folder.h"

using namespace agon;
using test::make_episode;

TEST_CASE("what a policy wrote cannot steer the terminal") {
  REQUIRE(cli::printable("a\tb\n\x1b[31mred\x07\x7f") == "a\tb\n\\x1b[31mred\\x07\\x7f");
  REQUIRE(cli::printable("\xc2\x9b"
                         "31m") == "\\x9b31m");  // CSI as one character
  REQUIRE(cli::printable("caf\xc3\xa9 \xc2\xb0") == "caf\xc3\xa9 \xc2\xb0");
  REQUIRE(cli::printable("\xc2") == "\xc2");
}

TEST_CASE("a transcript shows every turn, the gold and the answer, and its JSON all the rest") {
  record::Episode episode = make_episode(3, 1);
  episode.turns[0].facts.refused = "no such action\x1b";
  episode.turns[0].facts.tool_calls = {{"python", Json::object(), "ok", 0.5, 7}};
  const std::string text = cli::episode_text(episode);
  REQUIRE(text.find("charts/2/test/3, sample 1: ") == 0);
  for (std::size_t i = 0; i < episode.turns.size(); ++i)
    REQUIRE(text.find(fmt::format("--- turn {}: what it wrote", i + 1)) != std::string::npos);
  REQUIRE(text.find("[picture 24 x 16]\nturn 0\n") != std::string::npos);
  REQUIRE(text.find("called python: ok, 0.500 s, 7 bytes\n") != std::string::npos);
  REQUIRE(text.find("refused: no such action\\x1b\n") != std::string::npos);
  REQUIRE(text.find("gold    3\nanswer  " + *episode.answer) != std::string::npos);
  const Json json = cli::episode_json(episode);
  REQUIRE(json["turns"][0]["token_ids"] == episode.turns[0].token_ids);
  REQUIRE(json["turns"][0]["logprobs"].size() == episode.turns[0].logprobs.size());
  REQUIRE((json["sample"] == 1 && json["gold"] == 3 && json["status"] == "done"));
  episode = test::make_failed_episode(3, 1);
  REQUIRE(cli::episode_text(episode).find("sample 1: failed: the policy: connection refused") != std::string::npos);
}

TEST_CASE("a record of calls that is none is left out") {
  record::Episode episode = make_episode(3, 1);
  for (const Json& calls : {Json(7), Json{{{"tool", 3}}}, Json::object(), Json{1, 2}}) {
    record::set_info(episode.turns[0], {{"tool_calls", calls}});
    REQUIRE(episode.turns[0].facts.tool_calls.empty());
    REQUIRE(cli::episode_text(episode).find("called") == std::string::npos);
  }
}

TEST_CASE("a transcript of two turns tells which answer was right") {
  record::Episode episode = make_episode(3, 1);
  episode.turns.resize(2, episode.turns[0]);
  episode.turns[0].facts.turn_correct = false;
  episode.turns[1].facts.turn_correct = true;
  const std::string text = cli::episode_text(episode);
  REQUIRE(text.find("(a wrong answer)\n\n--- turn 2") != std::string::npos);
  REQUIRE(text.find("(a right answer)\n\ngold") != std::string::npos);
}

TEST_CASE("a run is shown as its figures and one line a task") {
  const test::TempFolder folder;
  {
    auto store = record::EpisodeStore::create(folder / "run", {{"suite", "charts"}, {"seed", 1}}, false);
    for (int sample = -1; sample < 3; ++sample) {
      record::Episode episode = make_episode(0, sample);
      episode.success = sample != 1;
      store->record(episode);
    }
    store->record(test::make_failed_episode(12, 0));
  }
  const auto run = record::RunReader::open(folder / "run");
  const std::string text = cli::run_text(*run);
  CAPTURE(text);
  REQUIRE(text.find("THE RUN IS NOT COMPLETE") == 0);
  REQUIRE(text.find("\n\ncharts, level -, - split: 2 tasks x 3 samples\n") != std::string::npos);
  REQUIRE(text.find("     0  sum              right      2/3  How much is red + blue in picture 0?\n") !=
          std::string::npos);
  REQUIRE(text.find("    12  sum              -          0/0  How much is red + blue in picture 12?  (1 failed)\n") !=
          std::string::npos);
  const Json json = cli::run_json(*run);
  REQUIRE((json["complete"] == false && json["episodes"].size() == 5 && json["episodes"][4]["status"] == "failed"));
  REQUIRE(json["summary"]["greedy"] == 1.0);
}

TEST_CASE("a training run is shown in the terminal by its metrics, an episode with the advantages of its tokens") {
  const test::TempFolder folder;
  {
    auto store = record::EpisodeStore::create(folder / "run", test::kTrainingConfig, false);
    test::record_training(*store, 11, 1);
  }
  const auto run = record::RunReader::open(folder / "run");
  const std::string text = cli::run_text(*run);
  CAPTURE(text);
  REQUIRE(text.starts_with("THE TRAINING IS NOT COMPLETE."));
  REQUIRE(text.find("\npolicy/learning_rate                       0.0001    2.025e-06\n") != std::string::npos);
  REQUIRE(text.find("How much is red + blue in picture 10?") != std::string::npos);
  REQUIRE(cli::run_json(*run)["metrics"]["time/rollout"].size() == 11);
  const std::string episode = cli::episode_text(run->episode(10, 1));
  CAPTURE(episode);
  REQUIRE(episode.find(", sample 1, training step 10: ") != std::string::npos);
  REQUIRE(episode.find("advantage of its tokens: ") != std::string::npos);
  const Json json = cli::episode_json(run->episode(10, 1));
  REQUIRE((json["step"] == 10 && json["turns"][0]["credit"]["weight"].size() == json["turns"][0]["token_ids"].size()));
}
