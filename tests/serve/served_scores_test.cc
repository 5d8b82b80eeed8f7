#include <httplib.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/error.h"
#include "core/file.h"
#include "fixtures/serving.h"
#include "serve/model_server.h"
#include "soon.h"
#include "temp_folder.h"
#include "tools/search/index_builder.h"
#include "tools/search/search_index.h"
#include "wire/client.h"

using namespace agon;
using namespace agon::serve;
using namespace agon::test;

namespace {

// Scores longer responses higher.
struct LengthModel : critic::RewardModel {
  std::vector<std::vector<double>> score(std::span<const critic::Candidates> sets) override {
    std::vector<std::vector<double>> all;
    for (const critic::Candidates& set : sets) {
      all.emplace_back();
      for (const std::string& response : set.responses) all.back().push_back(static_cast<double>(response.size()));
      passes += 1;
    }
    return all;
  }
  bool fits(const critic::Candidates&) const override { return true; }
  void require(const critic::Candidates& set) const override { tokens(set); }
  std::int64_t tokens(const critic::Candidates& set) const override {
    std::int64_t count = 1;
    for (const std::string& response : set.responses) {
      if (response.size() > 1000) throw Error("too long for the context");
      count += std::ssize(response);
    }
    return count;
  }
  double probability(double value) const override { return 1 / (1 + std::exp(-value)); }
  bool joint() const override { return false; }
  const Json& notes() const override { return notes_; }
  std::atomic<int> passes = 0;
  Json notes_;
};

// Finds a step right unless it says "no"; has no verdict on "hm".
struct WordCritic : critic::StepCritic {
  std::vector<critic::Verdict> judge(std::span<const critic::StepInContext> steps, std::int64_t) override {
    std::vector<critic::Verdict> verdicts;
    for (const critic::StepInContext& step : steps) {
      seen.push_back(step);
      critic::Verdict verdict;
      if (step.step != "hm") verdict.probability = step.step == "no" ? 0.25 : 0.75;
      if (step.step != "hm")
        verdict.judgement = step.step == "no" ? critic::Judgement::incorrect : critic::Judgement::correct;
      verdict.critique = "about " + step.step;
      verdict.tokens = 3;
      verdicts.push_back(verdict);
    }
    return verdicts;
  }
  std::string name() const override { return "words"; }
  std::vector<critic::StepInContext> seen;
};

// Takes a while for every response.
struct SlowModel final : LengthModel {
  std::vector<std::vector<double>> score(std::span<const critic::Candidates> sets) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return LengthModel::score(sets);
  }
};

}  // namespace

TEST_CASE("a reward model scores and ranks in one pass") {
  const auto model = std::make_shared<LengthModel>();
  Serving serving({}, {.reward_model = model, .reward_model_name = "longer"});
  const Json scored =
      serving.answer("/v1/score", {{"model", "longer"}, {"text_1", "q"}, {"text_2", {"a", "bbb", "cc"}}});
  CHECK(model->passes == 1);
  REQUIRE(scored["data"].size() == 3);
  CHECK(scored["data"][1]["score"] == 3);
  CHECK(scored["data"][1]["index"] == 1);
  CHECK(scored["usage"]["prompt_tokens"] == 7);
  for (const auto& [prompt, response] : std::vector<std::pair<const char*, const char*>>{
           {"queries", "documents"}, {"queries", "items"}, {"data_1", "data_2"}})
    CHECK(serving.answer("/score", {{prompt, "q"}, {response, {"a", "bb"}}})["data"][1]["score"] == 2);
  CHECK(serving.answer("/score", {{"text_1", "q"}, {"text_2", "four"}})["data"][0]["score"] == 4);
  CHECK(serving.answer("/score", {{"text_1", {"q", "p"}}, {"text_2", {"a", "bb"}}})["data"].size() == 2);
  const Json ranked =
      serving.answer("/v1/rerank", {{"query", "q"}, {"documents", {"a", "bbb", {{"text", "cc"}}}}, {"top_n", 2}});
  REQUIRE(ranked["results"].size() == 2);
  CHECK(ranked["results"][0]["index"] == 1);
  CHECK(ranked["results"][1]["document"]["text"] == "cc");
  const Json rows = serving.answer(
      "/pooling",
      {{"messages",
        {{{"role", "user"}, {"content", "1 + 1?"}}, {{"role", "assistant"}, {"content", "so<extra_0>two<extra_0>"}}}}});
  REQUIRE(rows["data"][0]["data"].size() == 2);
  CHECK(rows["data"][0]["data"][0][1].get<double>() == Approx(model->probability(2)));
  CHECK(serving.refusal("/score", R"({"text_1": ["a", "b"], "text_2": ["c"]})")["param"] == "text_1");
  CHECK(serving.refusal("/score", R"({"text_1": "a", "text_2": []})")["param"] == "text_2");
  CHECK(serving.refusal("/score", R"({"text_1": 5, "text_2": "a"})")["param"] == "text_1");
  CHECK(serving.refusal("/score", Json{{"text_1", "a"}, {"text_2", std::string(2000, 'x')}}.dump())["code"] ==
        "context_length_exceeded");
  CHECK(serving.refusal("/v1/rerank", R"({"query": "a"})")["param"] == "documents");
  CHECK(serving.refusal("/pooling", R"({"messages": [{"role": "user", "content": "x"}]})")["param"] == "messages");
  CHECK(serving.refusal("/v1/chat/completions", chat("x").dump(), 404)["code"] == "model_not_found");
}

TEST_CASE("a critic judges the steps of a solution") {
  const auto judge = std::make_shared<WordCritic>();
  Serving serving({}, {.policy = tiny_policy(), .critic = judge, .critic_name = "words"});
  const Json solution{{"messages",
                       {{{"role", "user"}, {"content", {picture_part(Image(40, 40, std::vector<std::uint8_t>(4800)))}}},
                        {{"role", "assistant"}, {"content", "yes<extra_0>no<extra_0>hm<extra_0>"}}}}};
  const Json whole = serving.answer("/pooling", solution)["data"][0];
  CHECK(whole["data"] == Json::parse("[[0.25, 0.75], [0.75, 0.25], null]"));
  CHECK(whole["critiques"] == Json::parse(R"(["about yes", "about no", "about hm"])"));
  REQUIRE(judge->seen.size() == 3);
  CHECK(judge->seen[2].before == "yes\n\nno");
  CHECK(judge->seen[2].messages.at(0).parts.at(0).is_image());
  Json last = solution;
  last["last_step_only"] = true;
  CHECK(serving.answer("/pooling", last)["data"][0]["data"] == Json::parse("[null, null, null]"));
  CHECK(judge->seen.size() == 4);
  CHECK(serving.answer("/pooling", last)["usage"]["completion_tokens"] == 3);
  CHECK(serving.refusal("/pooling", R"({"model": "agon-tiny", "messages": []})", 404)["code"] == "model_not_found");
  const Json listed = Json::parse(serving.client.Get("/v1/models")->body)["data"];
  CHECK(listed.at(1)["id"] == "words");
}

TEST_CASE("a client that goes ends what is scored for it") {
  const auto model = std::make_shared<SlowModel>();
  Serving serving({}, {.reward_model = model, .reward_model_name = "slow"});
  auto client = std::make_unique<WireClient>(serving.server.port());
  Json body{{"text_1", "a"}, {"text_2", std::vector<std::string>(1000, "b")}};
  client->say(posted("/v1/score", body));
  CHECK(comes_soon([&] { return model->passes > 0; }));
  client.reset();
  CHECK(comes_soon([&] { return serving.metric("agon_cancelled_requests_total") == 1; }));
  CHECK(model->passes < 60);
}

TEST_CASE("a search index is served beside") {
  const TempFolder folder;
  write_file_atomically(folder / "docs.jsonl", R"({"id": "1", "contents": "\"Cats\"\nThe cat sat on the mat."})");
  tools::build_search_index(folder / "docs.jsonl", folder / "index");
  Serving serving({}, {.search = std::make_shared<tools::SearchIndex>(folder / "index")});
  CHECK(serving.answer("/retrieve", {{"queries", {"cat"}}, {"topk", 1}})["result"][0][0]["id"] == "1");
  CHECK(serving.post("/retrieve", "{").first == 400);
}
