#include "cli/report/training.h"

#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

#include "browser.h"
#include "cli/report/data.h"
#include "cli/report/page.h"
#include "core/file.h"
#include "fixtures/training.h"
#include "record/run_kind.h"
#include "record/run_reader.h"
#include "temp_folder.h"

using namespace agon;
using cli::EpisodeKey;
using test::count;

namespace {

record::Turn turn_of(const std::string& text, const std::vector<std::uint16_t>& token_bytes) {
  record::Turn turn;
  turn.text = text;
  turn.token_ids.resize(token_bytes.size());
  turn.logprobs.assign(token_bytes.size(), -0.5f);
  turn.credit = {token_bytes, std::vector<float>(token_bytes.size(), 1.5f),
                 std::vector<float>(token_bytes.size(), 0.1f), std::vector<float>(token_bytes.size(), 0)};
  return turn;
}

// "think 0 The|red; answer 2 ..; ": kind, first token and pieces of each segment.
std::string spelled(const Json& segments) {
  std::string text;
  for (const Json& segment : segments)
    text += fmt::format("{} {} {}; ", segment["kind"].get<std::string>(), segment["first"].get<int>(),
                        fmt::join(segment["pieces"].get<std::vector<std::string>>(), "|"));
  return text;
}

// "eval/charts greedy pass_at_1; time rollout; ": groups and their metrics.
std::string names_of(const Json& curves) {
  std::string text;
  for (const Json& group : curves) {
    text += group["name"].get<std::string>();
    for (const Json& metric : group["metrics"]) text += fmt::format(" {}", metric["name"].get<std::string>());
    text += "; ";
  }
  return text;
}

}  // namespace

TEST_CASE("curves come in groups, with their intervals, and long ones as means") {
  const double nan = std::nan("");
  std::map<std::string, record::Curve> metrics{{"time/rollout", {{0, 1}, {1, 2}}},
                                               {"adapo/beta1", {{0, 0.123456789}}},
                                               {"alone", {{0, nan}, {1, HUGE_VAL}}},
                                               {"policy/clip_low", {{0, 0}, {1, 1}}},
                                               {"policy/clip_high", {{0, 0}, {1, 1}}},
                                               {"eval/charts/pass_at_1", {{0, 0.5}, {25, 0.75}}},
                                               {"eval/charts/pass_at_1_low", {{0, 0.25}, {25, 0.5}}},
                                               {"eval/charts/pass_at_1_high", {{0, 0.75}, {25, nan}}},
                                               {"eval/charts/greedy", {{0, 0.5}, {25, 1}}},
                                               {"eval/charts/greedy_low", {{0, 0.5}}},
                                               {"eval/charts/greedy_high", {{0, 0.5}}}};
  const Json curves = cli::curves_json(metrics);
  REQUIRE(names_of(curves) ==
          "eval/charts greedy greedy_high greedy_low pass_at_1; policy clip_high clip_low;  alone; adapo beta1; "
          "time rollout; ");
  const Json& pass = curves[0]["metrics"][3];
  REQUIRE(pass["points"] == Json::parse("[[0, 0.5], [25, 0.75]]"));
  REQUIRE((pass["low"] == Json::parse("[0.25, 0.5]") && pass["high"] == Json::parse("[0.75, null]")));
  REQUIRE(curves[2]["metrics"][0]["points"] == Json::parse("[[0, null], [1, null]]"));
  REQUIRE(curves[3]["metrics"][0]["points"] == Json::parse("[[0, 0.12346]]"));

  metrics = {{"a/b", {{0, 1}, {1, 2}, {2, nan}, {3, 4}, {4, nan}, {5, nan}, {6, 7}}}};
  const Json thin = cli::curves_json(metrics, 4)[0]["metrics"][0];
  REQUIRE((thin["stride"] == 2 && thin["points"] == Json::parse("[[1, 1.5], [3, 4], [5, null], [6, 7]]")));
}

TEST_CASE("a training run that leaves a log alone has a report of its curves") {
  const test::TempFolder folder;
  const auto log = (folder / "train.jsonl").string();
  REQUIRE_FALSE(record::run_kind_in(folder.path()));
  write_file_atomically(
      log,
      "{\"step\": 0, \"loss\": {\"charts 2\": 2.5, \"lookup 1\": 3}, \"seconds\": 4}\n"
      "{\"step\": 2, \"loss\": {\"charts 2\": 1}, \"best\": 0.5, \"seconds\": 9}\n{\"step\": 3, \"lo");
  REQUIRE(record::run_kind_in(folder.path()) == record::RunKind::training_log);
  const auto metrics = cli::logged_metrics(log);
  REQUIRE(metrics.size() == 4);
  REQUIRE(metrics.at("loss/charts 2") == record::Curve{{0, 2.5}, {2, 1}});
  REQUIRE(metrics.at("best") == record::Curve{{2, 0.5}});
  const Json data = cli::training_log_data(folder.path(), "rm");
  REQUIRE((data["training"]["last_step"] == 2 && data["complete"] == false));
  const test::Loaded loaded = test::load(folder.path(), cli::report_page(data));
  REQUIRE(loaded.console.empty());
  REQUIRE(count(loaded.dom, "class=\"curve\"") == 3);
  REQUIRE(loaded.dom.find("training, step 2<") != std::string::npos);

  write_file_atomically(log, "{\"step\": 0, \"loss\": 1}\n{\"loss\": 1}\n{\"step\": 2, \"loss\": 1}\n");
  REQUIRE_THROWS_WITH(cli::logged_metrics(log), Catch::Contains("line 2"));
  write_file_atomically(log, "");
  REQUIRE_THROWS_WITH(cli::training_log_data(folder.path(), "rm"), Catch::Contains("no figures yet"));
}

TEST_CASE("a turn's text is cut into its tokens, segment by segment") {
  const std::string text = "Sí, 4\n\n<answer>4</answer>";
  const record::Turn turn =
      turn_of(text, {2, 1, 1, 1, 5, 12, 4, 0});  // the first ends inside í, others in two segments
  REQUIRE(cli::credit_json(turn) == Json::parse(R"({"advantage": 1.5, "weight": 0.1, "kl": 0, "logprob": -0.5})"));
  REQUIRE(spelled(cli::token_segments_json(turn)) == "step 0 S|í|,| |4\n\n; answer 4 <a|nswer>4</ans|wer>|; ");
  REQUIRE(spelled(cli::token_segments_json(turn_of("", {0}))) == "answer 0 ; ");
  record::Turn mixed = turn;
  mixed.credit.advantage[2] = -1.25f;
  mixed.credit.weight[0] = std::nanf("");
  mixed.logprobs.clear();
  REQUIRE(cli::credit_json(mixed) == Json::parse(R"({"advantage": [1.5, 1.5, -1.25, 1.5, 1.5, 1.5, 1.5, 1.5],
                          "weight": [null, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1], "kl": 0, "logprob": null})"));
  for (const auto& token_bytes :
       std::vector<std::vector<std::uint16_t>>{{}, {1}, {25}, {30, 1}, {2, 1, 1, 1, 5, 12, 5, 0}})
    REQUIRE(cli::credit_json(turn_of(text, token_bytes)).is_null());
  record::Turn short_of_values = turn;
  short_of_values.credit.kl.pop_back();
  REQUIRE(cli::credit_json(short_of_values).is_null());
}

TEST_CASE("the episodes of a training run's report are whole groups from all along it, those that teach first") {
  const test::TempFolder folder;
  {
    auto store = record::EpisodeStore::create(folder / "run", test::kTrainingConfig, false);
    for (std::uint64_t task = 0; task < 30; ++task)
      for (int sample = 0; sample < 2; ++sample) {
        record::Episode episode = test::make_trained_episode(task, sample, static_cast<int>(task / 3) * 10);
        episode.reward = task % 3 == 2 ? sample : 0.5;  // rewards differ in the third group of a step
        store->record(episode);
      }
    store->record(test::make_episode(99, 0));  // without a step
  }
  const auto run = record::RunReader::open(folder / "run");
  REQUIRE(cli::chosen_episodes(*run, 3, 1) ==
          std::vector<EpisodeKey>{{2, 0}, {2, 1}, {14, 0}, {14, 1}, {29, 0}, {29, 1}});
  REQUIRE(cli::chosen_episodes(*run, 1, 2) == std::vector<EpisodeKey>{{29, 0}, {29, 1}, {27, 0}, {27, 1}});
  REQUIRE(cli::chosen_episodes(*run, 100, 100).size() == 60);
}

TEST_CASE("the report of a training run shows its curves, and what every token was worth") {
  const test::TempFolder folder;
  {
    auto store = record::EpisodeStore::create(folder / "run", test::kTrainingConfig, false);
    test::record_training(*store, 41, 2);
    record::Episode hostile = test::make_adpo_episode(0, 0, 0);
    hostile.turns[0].text.replace(0, 3, "<b>");
    store->record(hostile);
  }
  const Json data = cli::report_data(*record::RunReader::open(folder / "run"), "run");
  const std::string script = R"js(<script>
    const seen = [];
    const say = (text) => seen.push(text.replaceAll(/\s+/g, " "));
    const chart = [...document.querySelectorAll(".curve")].find((one) => one.querySelector(".name").title === "reward/total");
    const box = chart.querySelector("svg").getBoundingClientRect();
    const lines = () => [...document.querySelectorAll(".curve .line")].map((line) => line.getAttribute("d")).join();
    const before = lines();
    chart.querySelector("svg").dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + box.width * (46 + 296 / 4) / 352, clientY: box.top + 9}));
    say([...document.querySelectorAll(".curve .at")].map((one) => one.textContent).join(" "));
    document.getElementById("smoothing").value = 0;
    document.getElementById("smoothing").dispatchEvent(new Event("input"));
    say(String(lines() !== before) + " " + document.querySelectorAll(".curve .raw").length + " " + document.querySelectorAll(".curve .band").length);
    document.getElementById("step").value = "20";
    document.getElementById("search").dispatchEvent(new Event("input"));
    say(document.getElementById("counted").textContent);
    document.getElementById("step").value = "0";
    document.getElementById("search").dispatchEvent(new Event("input"));
    const tokens = [...document.querySelectorAll("#detail .token")];
    const color = (token) => token.style.background.replace(/.*var\((.*?)\) ?\/ ?(.*)\).*/, "$1 $2");
    say([tokens.length, tokens[0].className, color(tokens[0]), color(tokens[3]), color(tokens[tokens.length - 2])].join(", "));
    tokens[3].dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
    say(document.querySelector(".tip").innerText);
    document.body.dataset.seen = seen.join("; ");
  </script>)js";
  const test::Loaded loaded = test::load(folder.path(), cli::report_page(data) + script);
  REQUIRE(loaded.console.empty());
  REQUIRE(loaded.dom.find("id=\"incomplete\"") != std::string::npos);
  REQUIRE(count(loaded.dom, "class=\"curve\"") == 26);  // pass_at_1's interval is part of its curve
  REQUIRE(count(loaded.dom, "id=\"evaluation\"") == 1);
  REQUIRE(count(loaded.dom, "<b>The") + count(loaded.dom, "<b> red") == 0);
  const std::string seen =
      "0 0 0 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 0 10 10 10 10 10; "  // an evaluation is every 25
      "true 0 1; "                                                                   // no smoothing: other lines
      "8 of 40 episodes; "
      "48, token untrained, , --below 0.650, --above 0.260; "  // one of 47 tokens is in two segments
      "&quot; bar&quot; token 3 of 47 advantage -0.87 log-probability -0.005305 weight 0.01 KL weight 0.01";
  REQUIRE(loaded.dom.find("data-seen=\"" + seen + "\"") != std::string::npos);
}

TEST_CASE("a long training has a small report, quickly") {
  const test::TempFolder folder;
  {
    auto store = record::EpisodeStore::create(folder / "run", test::kTrainingConfig, false);
    test::record_training(*store, 3000, 1);
    for (int step = 0; step < 3000; ++step)
      store->record_metrics(
          step,
          {{"adapo/beta1", step * 1e-7 / 3}, {"adapo/beta2", std::sin(step)}, {"adapo/error_rate", 1.0 / (step + 1)}});
  }
  const auto start = std::chrono::steady_clock::now();
  const Json data = cli::report_data(*record::RunReader::open(folder / "run"), "run");
  const std::string page = cli::report_page(data);
  REQUIRE(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 20);
  REQUIRE(page.size() < 1'500'000);
  for (const Json& group : data["training"]["curves"])
    for (const Json& metric : group["metrics"]) REQUIRE(metric["points"].size() <= 1000);
  REQUIRE((data["training"]["last_step"] == 2999 && data["episodes_total"] == 1200 && data["episodes"].size() == 48));
}
