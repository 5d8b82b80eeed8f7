#include "critic/process_reward_critic.h"

#include <httplib.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "core/json.h"

using namespace agon;
using namespace agon::critic;
using Catch::Contains;

namespace {

// A server of /pooling on loopback that answers with reply(request).
struct PoolingServer {
  explicit PoolingServer(std::function<void(const Json&, httplib::Response&)> reply) {
    server.Post("/pooling", [this, reply](const httplib::Request& request, httplib::Response& response) {
      const std::lock_guard lock(mutex);
      requests.push_back(Json::parse(request.body));
      keys.push_back(request.get_header_value("Authorization"));
      reply(requests.back(), response);
    });
    port = server.bind_to_any_port("127.0.0.1");
    thread = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
  }
  ~PoolingServer() {
    server.stop();
    thread.join();
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port); }

  httplib::Server server;
  std::thread thread;
  std::mutex mutex;
  int port = 0;
  std::vector<Json> requests;
  std::vector<std::string> keys;  // of each request
};

void answer(httplib::Response& response, const Json& rows) {
  response.set_content(Json{{"data", {{{"index", 0}, {"data", rows}}}}}.dump(), "application/json");
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++found;
  return found;
}

StepInContext scored_step(const std::string& before, const std::string& text) {
  return {{Message::of(Role::system, "Answer."), Message::of(Role::user, "1 + 1?")}, before, text};
}

Verdict judged(const ProcessRewardOptions& options, const StepInContext& one) {
  return make_process_reward_critic(options)->judge({&one, 1}).at(0);
}

}  // namespace

TEST_CASE("process reward critic: Qwen2.5-Math-PRM's form, the last step's probability") {
  PoolingServer server([](const Json& request, httplib::Response& response) {
    Json rows = Json::array();
    for (std::size_t i = count(request["messages"][2]["content"], "<extra_0>"); i > 0; --i)
      rows.push_back({1 - 0.1 * static_cast<double>(i), 0.1 * static_cast<double>(i)});
    answer(response, rows);
  });
  const auto critic = make_process_reward_critic({server.url() + "/", "prm", RewardForm::qwen});
  CHECK(critic->name() == "prm");
  std::vector<StepInContext> steps;
  for (int i = 0; i < 20; ++i) steps.push_back(scored_step("a\n\nb", fmt::format("c{}", i)));
  const auto verdicts = critic->judge(steps);
  REQUIRE(verdicts.size() == 20);
  for (const Verdict& verdict : verdicts) {
    CHECK(*verdict.probability == Approx(0.1));
    CHECK(verdict.judgement == Judgement::incorrect);
  }
  const Json& request = server.requests.at(0);
  CHECK(request["model"] == "prm");
  CHECK(request["messages"][1]["content"] == "1 + 1?");
  CHECK_THAT(request["messages"][2]["content"].get<std::string>(), Contains("a<extra_0>b<extra_0>c"));
}

TEST_CASE("process reward critic: Math-Shepherd's form, the first of a pair") {
  PoolingServer server([](const Json& request, httplib::Response& response) {
    CHECK(request["input"] == "1 + 1? a \u043a\u0438\nb \u043a\u0438");
    answer(response, {{0.2, 0.8}, {0.9, 0.1}});
  });
  const Verdict verdict = judged({server.url(), "", RewardForm::shepherd}, scored_step("a", "b"));
  CHECK(*verdict.probability == Approx(0.9));
  CHECK(verdict.judgement == Judgement::correct);
  CHECK_THROWS_WITH(parse_reward_form("qwn"), Contains("qwen"));
}

TEST_CASE("process reward critic: what a server can do wrong") {
  int calls = 0;
  std::string body;
  int status = 200;
  PoolingServer server([&](const Json&, httplib::Response& response) {
    response.status = status == 503 && ++calls == 3 ? 200 : status;
    response.set_content(body, "application/json");
  });
  const ProcessRewardOptions options{server.url(), "prm", RewardForm::qwen};
  const StepInContext one = scored_step("", "a");
  body = R"({"data": [{"data": [[0.5, 0.5], [0.5, 0.5]]}]})";
  const Verdict verdict = judged(options, one);
  CHECK(verdict.judgement == Judgement::invalid);
  CHECK(verdict.fault == "2 probabilities for 1 steps");
  for (const char* bad : {"<html>", "[]", R"({"data": 3})", R"({"data": []})", R"({"data": [[0.1, 0.9]]})"}) {
    body = bad;
    CHECK_THROWS_WITH(judged(options, one), Contains("without data[0].data"));
  }
  for (const char* bad : {"[[0.5]]", "[[0.5, 1.5]]", "[[\"a\", \"b\"]]", "[0.5]", "[[null, null]]"}) {
    body = fmt::format(R"({{"data": [{{"data": {}}}]}})", bad);
    CHECK_THROWS_WITH(judged(options, one), Contains("two probabilities"));
  }
  body = fmt::format(R"({{"data": [{{"data": [{}{}]}}]}})", std::string(300'000, '['), std::string(300'000, ']'));
  CHECK_THROWS_WITH(judged(options, one), Contains("without data[0].data"));
  body = "no such model";
  status = 404;
  CHECK_THROWS_WITH(judged(options, one), Contains("status 404: no such model"));
  status = 401;
  body = "wrong key: abcdefghijk";
  CHECK_THROWS_WITH(judged(options, one), Contains("--critic-key-env"));
  ProcessRewardOptions with_key = options;
  with_key.key_env = "AGON_TEST_CRITIC_KEY";
  CHECK_THROWS_WITH(make_process_reward_critic(with_key), Contains("AGON_TEST_CRITIC_KEY, which is empty"));
  ::setenv("AGON_TEST_CRITIC_KEY", "abcdefghijk", 1);
  CHECK_THROWS_WITH(judged(with_key, one), Contains("wrong key: <key>") && !Contains("abcdefghijk"));
  CHECK(server.keys.back() == "Bearer abcdefghijk");
  status = 200;
  body = R"({"data": [{"data": [["abcdefghijk", 1]]}]})";
  CHECK_THROWS_WITH(judged(with_key, one), Contains("two probabilities") && !Contains("abcdefghijk"));
  body = R"({"data": [{"data": [[0.5, 0.5]], "critiques": ["abcdefghijk"]}]})";
  CHECK(judged(with_key, one).critique == "<key>");
  ::setenv("AGON_TEST_CRITIC_KEY", "0", 1);  // so short a key occurs in any answer, and must not be masked there
  body = R"({"data": [{"data": [[0.5, 0.5]]}]})";
  CHECK(*judged(with_key, one).probability == 0.5);
  status = 503;  // two failures, then it works
  body = R"({"data": [{"data": [[0.3, 0.7]]}]})";
  CHECK(*judged(options, one).probability == 0.7);
  CHECK(calls == 3);
  CHECK_THROWS_WITH(judged({"http://127.0.0.1:1", "prm"}, one), Contains("does not answer"));
  CHECK_THROWS_WITH(make_process_reward_critic({}), Contains("address"));
  CHECK(make_process_reward_critic({"http://user:secret@127.0.0.1:1/"})->name() == "http://127.0.0.1:1");
  CHECK_THROWS_WITH(judged({"http://user:secret@127.0.0.1:1"}, one), !Contains("secret"));
  StepInContext picture = one;
  picture.messages[1].parts.push_back(Part::of(Image(1, 1, {0, 0, 0})));
  CHECK_THROWS_WITH(judged({server.url(), "", RewardForm::shepherd}, picture), Contains("no pictures"));
  status = 200;
  judged(options, picture);
  CHECK(server.requests.back()["messages"][1]["content"][1]["type"] == "image_url");
}

TEST_CASE("process reward critic: a server that is busy is waited for as it asks") {
  std::size_t asked = 0;
  const char* wait = "1";
  const PoolingServer server([&](const Json&, httplib::Response& response) {
    if (++asked > 1) return answer(response, Json::array({{0.3, 0.7}}));
    response.status = 429;
    response.set_header("Retry-After", wait);
  });
  const ProcessRewardOptions options{server.url(), "prm", RewardForm::qwen};
  const auto start = std::chrono::steady_clock::now();
  CHECK(*judged(options, scored_step("", "a")).probability == 0.7);
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::seconds(1));
  CHECK(asked == 2);
  asked = 0;
  wait = "3600";  // longer than a request may take
  CHECK_THROWS_WITH(judged(options, scored_step("", "a")), Contains("status 429"));
  CHECK(asked == 1);
}

TEST_CASE("process reward critic: the failure of one step ends the waits of the others") {
  const PoolingServer server([](const Json& request, httplib::Response& response) {
    const std::string steps = request["messages"][2]["content"];
    response.status = steps.starts_with("bad") ? 404 : 429;
    response.set_header("Retry-After", "30");
  });
  const std::vector<StepInContext> steps{scored_step("", "a"), scored_step("", "b"), scored_step("", "bad")};
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(make_process_reward_critic({server.url(), "prm"})->judge(steps), Contains("status 404"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
}
