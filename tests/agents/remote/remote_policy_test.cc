#include "agents/remote/remote_policy.h"

#include <stdlib.h>

#include <catch2/catch.hpp>

#include "agents/rollout.h"
#include "error_of.h"
#include "fake_chat.h"
#include "paths.h"

using namespace agon;
using namespace agon::agents;
using namespace agon::test;
using Catch::Contains;

namespace {

const std::vector<Message> kQuestion{Message::of(Role::user, "Count.")};

Endpoint endpoint_at(const std::string& url) {
  Endpoint endpoint = read_endpoint(url);
  endpoint.timeout = 20;
  endpoint.cache = CacheUse::off;
  return endpoint;
}

CompletionRequest asking(std::string prefix = {}, std::vector<std::string> stop = {}, int n = 1,
                         double temperature = 0) {
  CompletionRequest request{kQuestion, std::move(prefix), n, {}};
  request.sampling.temperature = temperature;
  request.sampling.stop = std::move(stop);
  request.sampling.max_tokens = 64;
  request.sampling.seed = 5;
  return request;
}

std::vector<Completion> ask(RemotePolicy& policy, const CompletionRequest& request) {
  return policy.complete(std::span(&request, 1));
}

// A server that answers the probe correctly, and later requests as the test says.
class Turncoat {
 public:
  explicit Turncoat(WireServer::Answer later, ChatStyle style = like_vllm())
      : model_(style), later_(std::move(later)), server_([this](const WireRequest& request) {
          if (turned_) return later_(request);
          const std::string path = request.line.substr(request.line.find(' ') + 1);
          const bool is_get = request.line.starts_with("GET");
          net::HttpRequest passed{"http://127.0.0.1:" + std::to_string(model_.server().port()) +
                                  path.substr(0, path.find(' '))};
          if (!is_get) passed.body = request.body;
          const net::HttpReply reply = net::http_request(passed);
          return http_reply(reply.status, reply.body);
        }) {}
  std::string url() const { return server_.url(); }
  void turn() { turned_ = true; }

 private:
  FakeChat model_;
  WireServer::Answer later_;
  std::atomic<bool> turned_ = false;
  WireServer server_;
};

std::string failure_with(const WireServer::Answer& answer, std::vector<std::string> stop = {},
                         ChatStyle style = like_vllm()) {
  Turncoat server(answer, style);
  RemotePolicy policy(endpoint_at(server.url()));
  server.turn();
  return ask(policy, asking({}, std::move(stop))).at(0).failure;
}

}  // namespace

TEST_CASE("the probe finds out what each kind of server can do") {
  const FakeChat vllm(like_vllm()), llama(like_llama_cpp()), transformers(like_transformers());
  RemotePolicy first(endpoint_at(vllm.url())), second(endpoint_at(llama.url())), third(endpoint_at(transformers.url()));
  const ServerTraits a = first.probed().traits, b = second.probed().traits, c = third.probed().traits;
  CHECK((a.model == "fake" && a.context == 4096));
  CHECK((a.many && a.names_stop && !a.keeps_stop && a.logprobs && a.seeds && a.samples && a.images && a.counts_tokens));
  CHECK((a.continuing == Continuing::message && a.keeps_blank_end && !a.token_ids));
  CHECK((a.scores && first.capabilities().score));
  CHECK((!b.scores && !c.scores && !third.capabilities().score));
  CHECK((!b.many && !b.stops() && b.logprobs && b.token_ids && b.seeds && !b.images));
  CHECK(b.continuing != Continuing::none);
  CHECK((!c.many && c.keeps_stop && !c.logprobs && !c.samples && !c.seeds && c.images));
  CHECK(c.continuing == Continuing::none);
  CHECK(!third.capabilities().continues);
  CHECK(third.probed().notes.size() == 1);
}

TEST_CASE("one request has one answer, whatever the server makes of stop strings") {
  for (const auto stop : {ChatStyle::Stop::named, ChatStyle::Stop::kept, ChatStyle::Stop::cut, ChatStyle::Stop::ignored,
                          ChatStyle::Stop::refused}) {
    CAPTURE(static_cast<int>(stop));
    ChatStyle style = like_vllm();
    style.stop = stop;
    const FakeChat server(style);
    RemotePolicy policy(endpoint_at(server.url()));
    const Completion cut = ask(policy, asking({}, {"four", "seven"})).at(0);
    CHECK(cut.failure == "");
    CHECK(cut.text == "one, two, three, four");
    CHECK(cut.matched_stop == "four");
    CHECK(cut.finish_reason == FinishReason::stop);
    const Completion whole = ask(policy, asking({}, {"eleven"})).at(0);
    CHECK(whole.text == FakeChat::count({}, 0));
    CHECK(whole.matched_stop == "");
    CHECK(whole.finish_reason == FinishReason::stop);
    CHECK(whole.tokens() == std::ssize(FakeChat::count({}, 0)) / 3 + (FakeChat::count({}, 0).size() % 3 != 0));
    CompletionRequest brief = asking({}, {"nine"});
    brief.sampling.max_tokens = 3;
    const Completion length = ask(policy, brief).at(0);
    CHECK(length.text == "one, two,");
    CHECK(length.finish_reason == FinishReason::length);
    CHECK(length.tokens() == 3);
  }
}

TEST_CASE("a server that lists no model is asked for none by a name that it does not know") {
  ChatStyle style = like_vllm();
  style.lists_models = false;
  style.answers_as = "fake@main";
  const FakeChat server(style);
  RemotePolicy policy(endpoint_at(server.url()));
  CHECK((policy.probed().traits.seeds && policy.probed().traits.images && policy.probed().traits.names_stop));
  CHECK_THAT(policy.capabilities().name, Contains("127.0.0.1"));
  style.answers_as = "fake";
  const FakeChat other(style);
  CHECK(RemotePolicy(endpoint_at(other.url())).capabilities().name == "fake");
}

TEST_CASE("a text is scored by the tokens that spell it") {
  const FakeChat server(like_vllm());
  RemotePolicy policy(endpoint_at(server.url()));
  const std::vector<Message> messages = {Message::of(Role::user, "Name a fruit.")};
  const std::vector<ScoreRequest> requests = {{messages, {}, 1.0, "banana"}, {messages, {}, 1.0, "a banana"}};
  const std::vector<TokenScores> scores = policy.score(requests);
  CHECK(scores.at(0).logprobs == std::vector<float>{-0.5, -1});
  CHECK(scores.at(1).logprobs == std::vector<float>{-0.5, -0.5, -1});  // the first token begins before the text
  const std::vector<ScoreRequest> long_one = {{messages, {}, 1.0, std::string(20'000, 'a')}};
  CHECK(policy.score(long_one).at(0).logprobs.empty());
  const std::vector<ScoreRequest> hot = {{messages, {}, 0.5, "banana"}};
  CHECK_THROWS_WITH(policy.score(hot), Contains("temperature 1"));
}

TEST_CASE("a server that gives no log-probabilities of a prompt is asked for none") {
  const FakeChat server(like_transformers());
  RemotePolicy policy(endpoint_at(server.url()));
  const std::vector<ScoreRequest> requests = {{{Message::of(Role::user, "a")}, {}, 1.0, "b"}};
  CHECK_THROWS_WITH(policy.score(requests), Contains("does not score"));
  Turncoat turncoat([](const WireRequest&) { return http_reply(400, R"({"error":{"message":"moderated"}})"); });
  RemotePolicy turned(endpoint_at(turncoat.url()));
  turncoat.turn();
  CHECK_THROWS_WITH(turned.score(requests), Contains("moderated"));
}

TEST_CASE("a turn that has begun is continued, with the white space at its end or without") {
  const auto paragraphs = [](const Json&, std::uint64_t) { return std::string("First.\n\nSecond.\n\nThird."); };
  for (const int way : {0, 1, 2, 3})
    for (const auto continues : {ChatStyle::Continues::message, ChatStyle::Continues::prefill})
      for (const auto stop : {ChatStyle::Stop::named, ChatStyle::Stop::cut}) {
        CAPTURE(way, static_cast<int>(continues), static_cast<int>(stop));
        ChatStyle style = like_vllm();
        style.trims = way & 1;
        style.repeats = way & 2;
        style.continues = continues;
        style.stop = stop;
        const FakeChat server(style, paragraphs);
        RemotePolicy policy(endpoint_at(server.url()));
        std::string turn;
        std::vector<std::string> steps;
        for (int i = 0; i < 5; ++i) {
          const Completion step = ask(policy, asking(turn, {"\n\n"})).at(0);
          REQUIRE(step.failure == "");
          turn += step.text;
          steps.push_back(step.text);
          if (step.matched_stop.empty()) break;
        }
        CHECK(steps == std::vector<std::string>{"First.\n\n", "Second.\n\n", "Third."});
      }
}

TEST_CASE("samples differ from one another and come back with their seed") {
  for (const bool many : {true, false}) {
    ChatStyle style = like_vllm();
    style.many = many;
    const FakeChat server(style);
    RemotePolicy policy(endpoint_at(server.url()));
    const auto texts = [&](std::uint64_t seed) {
      CompletionRequest request = asking({}, {}, 4, 1.0);
      request.sampling.seed = seed;
      std::vector<std::string> all;
      for (const Completion& one : ask(policy, request)) all.push_back(one.text);
      return all;
    };
    const std::vector<std::string> first = texts(1);
    CHECK(std::set<std::string>(first.begin(), first.end()).size() == 4);
    CHECK(texts(1) == first);
    CHECK(texts(2) != first);
  }
}

TEST_CASE("log-probabilities stand with the tokens of the text") {
  for (const ChatStyle& style : {like_vllm(), like_llama_cpp()}) {
    const FakeChat server(style);
    RemotePolicy policy(endpoint_at(server.url()));
    CompletionRequest request = asking({}, {"three"});
    request.sampling.logprobs = true;
    const Completion completion = ask(policy, request).at(0);
    CHECK(completion.text == "one, two, three");
    REQUIRE(completion.token_ends.size() >= 4);
    CHECK(completion.token_ends.size() == completion.logprobs.size());
    CHECK(completion.token_ends[2] == 9);
    CHECK(completion.logprobs.at(2) == -0.25f);
  }
}

TEST_CASE("reasoning is kept apart, or in front of the answer") {
  ChatStyle style = like_vllm();
  style.reasons = true;
  const FakeChat server(style);
  Endpoint endpoint = endpoint_at(server.url());
  RemotePolicy apart(endpoint);
  CHECK(ask(apart, asking()).at(0).text == FakeChat::count({}, 0));
  CHECK(ask(apart, asking()).at(0).reasoning == "thinking about it");
  endpoint.keep_reasoning = true;
  RemotePolicy together(endpoint);
  CHECK(ask(together, asking()).at(0).text == "<think>\nthinking about it\n</think>\n\n" + FakeChat::count({}, 0));
}

TEST_CASE("a prompt that leaves less room than was asked for gets a shorter answer; one without room says so") {
  ChatStyle style = like_vllm();
  style.context = 300;
  const FakeChat server(style);
  RemotePolicy policy(endpoint_at(server.url()));
  CompletionRequest request = asking();
  request.messages = {Message::of(Role::user, std::string(870, 'x'))};
  const Completion brief = ask(policy, request).at(0);
  CHECK(brief.failure == "");
  CHECK(brief.finish_reason == FinishReason::length);
  CHECK((brief.tokens() >= 1 && brief.tokens() < 10));
  request.messages = {Message::of(Role::user, std::string(3000, 'x'))};
  CHECK(ask(policy, request).at(0).finish_reason == FinishReason::context);
}

TEST_CASE("the key goes to the server and into no message") {
  const std::string key = "sk-very-secret-0123456789";
  ::setenv("AGON_TEST_KEY", key.c_str(), 1);
  ChatStyle style = like_vllm();
  style.key = key;
  const FakeChat server(style);
  Endpoint endpoint = endpoint_at(server.url());
  CHECK_THROWS_WITH(RemotePolicy(endpoint), Contains("401") && Contains("key_env"));
  endpoint.key_env = "AGON_TEST_KEY";
  RemotePolicy policy(endpoint);
  CHECK(ask(policy, asking()).at(0).text != "");
  ::setenv("AGON_TEST_KEY", "sk-wrong-secret-987654321", 1);
  CHECK_THAT(error_of([&] { RemotePolicy wrong(endpoint); }),
             !Contains("sk-wrong") && Contains("<key>") && Contains("AGON_TEST_KEY"));
  ::unsetenv("AGON_TEST_KEY");
  CHECK_THROWS_WITH(RemotePolicy(endpoint), Contains("AGON_TEST_KEY"));
}

TEST_CASE("a server that does not answer at all is said with its address") {
  CHECK_THROWS_WITH(RemotePolicy(endpoint_at("http://127.0.0.1:1/v1")), Contains("127.0.0.1:1") && Contains("running"));
  const WireServer web([](const WireRequest&) { return http_reply(404, "<html>nothing here</html>"); });
  CHECK_THROWS_WITH(RemotePolicy(endpoint_at(web.url(""))), Contains("404") && Contains("/v1"));
  const FakeChat server(like_vllm());
  CHECK_THROWS_WITH(RemotePolicy(endpoint_at(server.url() + "#other")), Contains("does not exist"));
}

TEST_CASE("what goes wrong with one request is its failure: HTML, no choices, a refusal, invalid UTF-8") {
  CHECK_THAT(failure_with([](const WireRequest&) { return http_reply(200, "<html>captive portal</html>"); }),
             Contains("not a JSON object"));
  CHECK_THAT(failure_with([](const WireRequest&) { return http_reply(200, R"({"choices":[]})"); }),
             Contains("no choices"));
  CHECK_THAT(failure_with([](const WireRequest&) { return http_reply(400, R"({"error":{"message":"bad image"}})"); }),
             Contains("400") && Contains("bad image"));
  CHECK_THAT(failure_with([](const WireRequest&) { return http_reply(301, "", "Location: http://127.0.0.1:1/\r\n"); }),
             Contains("301"));
  CHECK(failure_with([](const WireRequest&) {
          return http_reply(200, "{\"choices\":[{\"message\":{\"content\":\"\xFF\xFE\"}}]}");
        }) != "");
}

TEST_CASE("a server that does not stream, though it was asked to, is read all the same") {
  const auto whole = [](const WireRequest&) {
    return http_reply(200, R"({"choices":[{"message":{"content":"one, two, three"},"finish_reason":"stop"}]})");
  };
  Turncoat server(whole, like_llama_cpp());
  RemotePolicy policy(endpoint_at(server.url()));
  server.turn();
  const Completion completion = ask(policy, asking({}, {"two"})).at(0);
  CHECK(completion.failure == "");
  CHECK(completion.text == "one, two");
  CHECK(completion.matched_stop == "two");
}

TEST_CASE("a stream that ends in the middle is asked for again, and is a failure in the end") {
  std::atomic<int> asked = 0;
  const auto half = [&](const WireRequest&) {
    ++asked;
    return event_reply({R"({"choices":[{"index":0,"delta":{"content":"one, "}}]})"});
  };
  CHECK_THAT(failure_with(half, {"two"}, like_llama_cpp()), Contains("in the middle"));
  CHECK(asked == 3);
}

TEST_CASE("a server that goes away in the middle of a run stops the run, and keeps what is done") {
  std::atomic<int> answers = 0;
  const auto dies = [&](const WireRequest&) {
    if (++answers > 30) return WireReply{{}, WireReply::End::reset};
    return http_reply(200, R"({"choices":[{"message":{"content":"<answer>1</answer>"},"finish_reason":"stop"}]})");
  };
  Turncoat server(dies);
  RemotePolicy policy(endpoint_at(server.url()), {.backoff_seconds = 0.02, .gone_seconds = 0.5});
  server.turn();
  std::vector<record::Episode> kept;
  std::mutex mutex;
  RolloutOptions options{.suite = env::Suite("charts"), .tasks = 50, .samples = 1, .greedy = false, .threads = 4};
  CHECK_THROWS_AS(play(policy, options, {},
                       [&](record::Episode episode) {
                         const std::lock_guard lock(mutex);
                         kept.push_back(std::move(episode));
                       }),
                  PolicyGone);
  CHECK(kept.size() >= 20);
  for (const record::Episode& episode : kept) CHECK(episode.status == record::EpisodeStatus::done);
}

TEST_CASE("a request that fails on the way makes one failed episode, and no zero") {
  const auto some = [](const WireRequest& request) {
    if (request.number % 3 == 0) return http_reply(400, R"({"error":{"message":"moderated"}})");
    return http_reply(200, R"({"choices":[{"message":{"content":"<answer>1</answer>"},"finish_reason":"stop"}]})");
  };
  Turncoat server(some);
  RemotePolicy policy(endpoint_at(server.url()));
  server.turn();
  int failed = 0, done = 0;
  std::mutex mutex;
  RolloutOptions options{.suite = env::Suite("charts"), .tasks = 10, .samples = 3, .greedy = false, .threads = 4};
  play(policy, options, {}, [&](const record::Episode& episode) {
    const std::lock_guard lock(mutex);
    const bool is_failed = episode.status == record::EpisodeStatus::failed;
    (is_failed ? failed : done) += 1;
    if (is_failed) CHECK_THAT(episode.failure, Contains("moderated"));
  });
  CHECK(failed + done == 30);
  CHECK((failed >= 5 && failed <= 15));
}

TEST_CASE("a stop ends requests that are under way") {
  Turncoat server([](const WireRequest&) {
    WireReply reply = http_reply(200, "{}");
    reply.before = 30;
    return reply;
  });
  RemotePolicy policy(endpoint_at(server.url()));
  server.turn();
  std::atomic<bool> stop = false;
  const auto start = std::chrono::steady_clock::now();
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  RolloutOptions options{.suite = env::Suite("charts"), .tasks = 4, .samples = 1, .greedy = false, .threads = 4};
  int recorded = 0;
  play(
      policy, options, {}, [&](const record::Episode&) { ++recorded; }, &stop);
  CHECK(recorded == 0);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE("with the model's tokenizer turns are continued and scored as texts, and tokens are counted") {
  ChatStyle style = like_transformers();
  style.stop = ChatStyle::Stop::named;
  style.completes = true;
  style.usage = GENERATE(true, false);
  const FakeChat server(style, [](const Json&, std::uint64_t) { return std::string("First.\n\nSecond.\n\nThird."); });
  Endpoint endpoint = endpoint_at(server.url());
  CHECK(RemotePolicy(endpoint).capabilities().continues == false);
  CHECK(RemotePolicy(endpoint).capabilities().counts_tokens == style.usage);
  endpoint.tokenizer = test::source_path("models/agon-tiny").string();
  RemotePolicy policy(endpoint);
  CHECK(policy.probed().traits.continuing == Continuing::completions);
  const Capabilities can = policy.capabilities();
  CHECK((can.continues && !can.continues_pictures && can.score && can.counts_tokens));
  const Completion step = ask(policy, asking("First.\n\nSec", {"\n\n"})).at(0);
  CHECK(step.failure == "");
  CHECK(step.text == "ond.\n\n");
  CHECK(step.matched_stop == "\n\n");
  CHECK((step.tokens() > 0 && step.prompt_tokens > 0));
  const std::vector<ScoreRequest> requests = {{{Message::of(Role::user, "Name a fruit.")}, {}, 1.0, "banana"}};
  const std::vector<TokenScores> scores = policy.score(requests);
  float sum = 0;
  for (const float logprob : scores.at(0).logprobs) sum += logprob;
  CHECK(sum == -1.5F);
  CHECK((policy.paid().prompt_tokens > 0 && policy.paid().completion_tokens > 0));
  CompletionRequest seen = asking("First.");
  seen.messages[0].parts.push_back(Part::of(Image(56, 56, std::vector<std::uint8_t>(56 * 56 * 3, 9))));
  CHECK_THROWS_WITH(ask(policy, seen), Contains("pictures"));
  endpoint.continuing = Continuing::prefill;  // the file may claim more than the server can do: doctor reports it
  CHECK_THAT(RemotePolicy(endpoint).probed().notes.back(), Contains("'continue'"));
  endpoint.tokenizer = "no/such/folder";
  CHECK_THROWS_WITH(RemotePolicy(endpoint), Contains("tokenizer.json"));
}

TEST_CASE("a server that takes a chat template with a request continues turns by it, behind pictures too") {
  ChatStyle style = like_transformers();
  style.continues = ChatStyle::Continues::chat_template;
  style.repeats = GENERATE(true, false);
  const FakeChat server(style, [](const Json&, std::uint64_t) { return std::string("First.\n\nSecond.\n\nThird."); });
  Endpoint endpoint = endpoint_at(server.url());
  CHECK_FALSE(RemotePolicy(endpoint).capabilities().continues);
  endpoint.tokenizer = test::source_path("models/agon-tiny").string();
  RemotePolicy policy(endpoint);
  CHECK(policy.probed().traits.continuing == Continuing::chat_template);
  CHECK(policy.probed().traits.repeats_turn == style.repeats);
  CHECK((policy.capabilities().continues && policy.capabilities().continues_pictures));
  CompletionRequest seen = asking("First.\n\nSec", {"\n\n"});
  seen.messages[0].parts.push_back(Part::of(Image(56, 56, std::vector<std::uint8_t>(56 * 56 * 3, 9))));
  const Completion step = ask(policy, seen).at(0);
  CHECK(step.failure == "");
  CHECK(step.text == "ond.\n\n");
  CHECK(ask(policy, asking("")).at(0).text == "First.\n\nSecond.\n\nThird.");
}

TEST_CASE("however a turn is said to be continued, a server that scores is asked as it understands") {
  const FakeChat server(like_vllm());
  Endpoint endpoint = endpoint_at(server.url());
  endpoint.continuing = GENERATE(Continuing::message, Continuing::prefill, Continuing::none);
  RemotePolicy policy(endpoint);
  CHECK(policy.capabilities().continues == (endpoint.continuing != Continuing::none));
  const std::vector<ScoreRequest> requests = {{{Message::of(Role::user, "Name a fruit.")}, {}, 1.0, "banana"}};
  CHECK(policy.score(requests).at(0).logprobs == std::vector<float>{-0.5, -1});
}

TEST_CASE("a key that a server writes into its answer does not show") {
  ::setenv("AGON_TEST_KEY", "sk-0123456789", 1);
  Endpoint endpoint = endpoint_at("http://127.0.0.1:1/v1");
  const FakeChat server(like_vllm(),
                        [](const Json&, std::uint64_t) { return std::string("It is sk-0123456789, isn't it?"); });
  endpoint.url = endpoint_at(server.url()).url;
  endpoint.key_env = "AGON_TEST_KEY";
  RemotePolicy policy(endpoint);
  CHECK_THAT(ask(policy, asking()).at(0).text, Contains("<key>") && !Contains("0123456789"));
  CHECK_THAT(ask(policy, asking({}, {"isn't"})).at(0).text, Contains("<key>") && !Contains("0123456789"));
}
