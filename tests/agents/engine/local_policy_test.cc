#include "agents/engine/local_policy.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "adapter_files.h"
#include "agents/hub/model_folder.h"
#include "agents/open_policy.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "core/text.h"
#include "golden/completion.h"
#include "paths.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::agents;

namespace {

const std::string kGolden = agon::test::golden_path("generation");

std::vector<Message> messages_of(const Json& example) {
  std::vector<Message> messages;
  if (const auto system = example["system"].get<std::string>(); !system.empty())
    messages.push_back(Message::of(Role::system, system));
  Message question{Role::user, {}, {}, {}};
  if (example["picture"].get<bool>()) question.parts.push_back(Part::of(load_image(kGolden + "/picture.png")));
  question.parts.push_back(Part::of(example["prompt"].get<std::string>()));
  messages.push_back(std::move(question));
  return messages;
}

Json golden_cases() { return Json::parse(read_file(kGolden + "/expected.json"))["cases"]; }

// Counts the texts that it encodes.
class CountingTokenizer : public Tokenizer {
 public:
  explicit CountingTokenizer(std::shared_ptr<const Tokenizer> real) : real_(std::move(real)) {}
  std::vector<std::int32_t> encode(std::string_view text, bool special, TextPlace place) const override {
    ++encoded;
    return real_->encode(text, special, place);
  }
  std::string decode(std::span<const std::int32_t> ids, bool special, TextPlace place) const override {
    return real_->decode(ids, special, place);
  }
  std::string token_bytes(std::int32_t id) const override { return real_->token_bytes(id); }
  std::optional<std::int32_t> id_of(std::string_view token) const override { return real_->id_of(token); }
  bool is_special(std::int32_t id) const override { return real_->is_special(id); }
  int vocab_size() const override { return real_->vocab_size(); }
  std::string json() const override { return real_->json(); }
  mutable std::atomic<int> encoded{0};

 private:
  std::shared_ptr<const Tokenizer> real_;
};

CompletionRequest golden_request(const Json& example, double temperature) {
  CompletionRequest request{messages_of(example), {}, 1, {}};
  request.sampling.temperature = temperature;
  request.sampling.max_tokens = 40;
  return request;
}

// Writes an adapter of kGolden/model to a folder.
void write_role(const std::filesystem::path& folder, const std::string& base, std::uint64_t seed) {
  agon::test::write_adapter(folder, open_model_folder(kGolden + "/model").config,
                            {.base_model = base, .rank = 3, .alpha = 6},
                            {"model.layers.0.self_attn.q_proj", "model.layers.1.mlp.down_proj"}, seed);
}

}  // namespace

TEST_CASE("local policy: greedy completions and log-probabilities equal transformers' generate") {
  const auto policy =
      make_local_policy(kGolden + "/model", {.threads = 2, .backend = {.memory = {.weights = WeightKind::f32}}});
  std::vector<CompletionRequest> requests;
  for (const Json& example : golden_cases()) requests.push_back(golden_request(example, 0));
  const auto completions = policy->complete(requests);
  REQUIRE(completions.size() == requests.size());
  for (std::size_t i = 0; i < completions.size(); ++i)
    agon::test::check_golden_completion(*policy, requests[i], completions[i], golden_cases()[i]);
}

TEST_CASE("local policy: nothing that is excluded is written again") {
  const auto policy = make_local_policy(kGolden + "/model", {.threads = 2});
  const double temperature = GENERATE(0.0, 0.7);
  CompletionRequest request = golden_request(golden_cases()[0], temperature);
  request.sampling.max_tokens = 3;
  request.sampling.greedy_logprobs_at = 0.7;
  std::set<std::vector<std::int32_t>> written;
  for (int i = 0; i < 40; ++i) {
    const Completion one = policy->complete({&request, 1}).at(0);
    REQUIRE(written.insert(one.token_ids).second);
    request.sampling.excluded.push_back({one.token_ids, one.logprobs, {}});
    const ScoreRequest again{request.messages, one.token_ids, 0.7};
    REQUIRE(policy->score({&again, 1}).at(0).logprobs == one.logprobs);
  }
  request.sampling.excluded.push_back({{1, 2}, {-1}, {}});
  REQUIRE_THROWS_WITH(policy->complete({&request, 1}), Catch::Contains("2 tokens, 1 log-prob"));
}

TEST_CASE("local policy: greedy leaves what is excluded at ever less likely places") {
  const auto policy = make_local_policy(kGolden + "/model", {.threads = 2});
  CompletionRequest request = golden_request(golden_cases()[0], 0);
  request.sampling.max_tokens = 4;
  request.sampling.alternatives = 24;
  std::vector<Beginning>& excluded = request.sampling.excluded;
  float before = 0;
  for (int i = 0; i < 24; ++i) {
    const Completion one = policy->complete({&request, 1}).at(0);
    REQUIRE(one.alternatives.size() == one.token_ids.size());
    std::size_t shared = 0;
    for (const Beginning& other : excluded) {
      const auto end = std::mismatch(one.token_ids.begin(), one.token_ids.end(), other.token_ids.begin());
      shared = std::max(shared, static_cast<std::size_t>(end.first - one.token_ids.begin()));
    }
    const auto left = one.logprobs.begin() + static_cast<std::ptrdiff_t>(shared) + 1;
    const float logprob = std::accumulate(one.logprobs.begin(), left, 0.0F);
    CHECK(logprob <= before + 1e-4F);
    before = logprob;
    for (std::size_t t = shared + 1; t < one.token_ids.size(); ++t)
      CHECK(one.token_ids[t] == one.alternatives[t].at(0).id);
    excluded.push_back({one.token_ids, one.logprobs, one.alternatives});
  }
  CHECK(before < -1);
  excluded.push_back({{1, 2}, {-1, -1}, {{}}});
  REQUIRE_THROWS_WITH(policy->complete({&request, 1}), Catch::Contains("alternatives of 1"));
}

TEST_CASE("local policy: equal prompts of a call are made once, and each request gets what it gets alone") {
  ModelFolder folder = open_model_folder(kGolden + "/model");
  const auto tokenizer = std::make_shared<CountingTokenizer>(folder.tokenizer);
  folder.tokenizer = tokenizer;
  EngineWeights weights = load_engine_weights(folder.path, folder.config);
  LocalPolicy policy(std::move(folder), std::move(weights), {});
  std::vector<CompletionRequest> requests;
  for (int i = 0; i < 9; ++i) {
    requests.push_back(golden_request(golden_cases()[i == 7 ? 1 : 0], 1.0));
    requests.back().sampling.seed = static_cast<std::uint64_t>(i);
    if (i == 8) requests.back().prefix = "The";
  }
  std::vector<Completion> alone;
  std::vector<int> counts;
  for (const CompletionRequest& request : requests) {
    const int before = tokenizer->encoded;
    alone.push_back(policy.complete({&request, 1}).at(0));
    counts.push_back(tokenizer->encoded - before);
  }
  const int before = tokenizer->encoded;
  const auto together = policy.complete(requests);
  CHECK(tokenizer->encoded - before == counts[0] + counts[7] + counts[8]);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CHECK(together[i].token_ids == alone[i].token_ids);
    CHECK(together[i].logprobs == alone[i].logprobs);
    CHECK(together[i].prompt_tokens == alone[i].prompt_tokens);
  }
  std::vector<ScoreRequest> scored(5, {requests[0].messages, alone[0].token_ids, 1.0, {}});
  scored[3].messages.back().parts.push_back(Part::of(std::string("?")));
  const int scoring = tokenizer->encoded;
  const auto scores = policy.score(scored);
  CHECK(tokenizer->encoded - scoring <= 3 * counts[0]);
  CHECK(scores[4].logprobs == scores[0].logprobs);
  CHECK(scores[3].logprobs != scores[0].logprobs);
}

TEST_CASE("local policy: a turn may end with either end token, and the next turn goes on from what was sampled") {
  ModelFolder folder = open_model_folder(kGolden + "/model");
  const auto id = [&](const char* token) { return folder.tokenizer->id_of(token).value(); };
  const std::int32_t turn = id("<|im_end|>"), text = id("<|endoftext|>");
  folder.config.eos_token_ids = {turn, text};
  const ModelFolder copy = folder;
  EngineWeights weights = load_engine_weights(folder.path, folder.config);
  LocalPolicy policy(std::move(folder), std::move(weights), {});
  CompletionRequest request = golden_request(golden_cases()[1], 5.0);
  request.n = 400;
  std::map<std::int32_t, int> ended;
  for (const Completion& one : policy.complete({&request, 1})) {
    if (one.finish_reason != FinishReason::stop) continue;
    const std::int32_t last = one.token_ids.back();
    REQUIRE((last == turn || last == text));
    CHECK(one.token_ends.back() == one.text.size());
    if (ended[last]++ > 0) continue;
    CompletionRequest next = request;
    next.n = 1;
    next.messages.push_back(Message::of(Role::assistant, one.text));
    next.messages.back().token_ids = one.token_ids;
    next.messages.push_back(Message::of(Role::user, "go on"));
    const EncodedPrompt prompt = encode_prompt(next.messages, {}, copy.chat, *copy.tokenizer, copy.images, copy.config);
    const auto begin = prompt.ids.begin() + one.prompt_tokens;
    CHECK(std::vector(begin, begin + std::ssize(one.token_ids)) == one.token_ids);
    CHECK(policy.complete({&next, 1}).at(0).prompt_tokens == std::ssize(prompt.ids));
  }
  CHECK(ended.size() == 2);
}

TEST_CASE("local policy: says what it can do") {
  const auto policy = make_local_policy(kGolden + "/model");
  const Capabilities can = policy->capabilities();
  CHECK(can.name == "model");
  CHECK((can.images && can.logprobs && can.score));
  CHECK(can.max_context == 512);
}

TEST_CASE("local policy: a prefix is continued, not part of the text, many callers get what one gets") {
  const auto policy = make_local_policy(kGolden + "/model");
  CompletionRequest request = golden_request(golden_cases()[1], 1.0);
  const Completion plain = policy->complete({&request, 1}).at(0);
  request.prefix = "The café";
  const Completion continued = policy->complete({&request, 1}).at(0);
  CHECK(continued.prompt_tokens > plain.prompt_tokens);
  CHECK_FALSE(continued.text.starts_with("The café"));
  std::vector<Completion> found(8);
  std::vector<std::thread> callers;
  for (Completion& completion : found)
    callers.emplace_back([&] { completion = policy->complete({&request, 1}).at(0); });
  for (std::thread& caller : callers) caller.join();
  for (const Completion& completion : found) {
    CHECK(completion.token_ids == continued.token_ids);
    CHECK(completion.logprobs == continued.logprobs);
  }
}

TEST_CASE("local policy: a prompt longer than the context writes nothing and says so, the other requests run") {
  const auto policy = make_local_policy(kGolden + "/model");
  std::vector<CompletionRequest> requests{golden_request(golden_cases()[0], 1.0),
                                          golden_request(golden_cases()[0], 1.0)};
  requests[1].messages.push_back(Message::of(Role::user, std::string(2000, 'z')));
  requests[1].n = 2;
  requests.push_back(requests[0]);
  const std::vector<Completion> completions = policy->complete(requests);
  REQUIRE(completions.size() == 4);
  for (const std::size_t i : {1, 2}) {
    CHECK(completions[i].finish_reason == FinishReason::context);
    CHECK(completions[i].token_ids.empty());
    CHECK(completions[i].prompt_tokens > policy->capabilities().max_context);
  }
  CHECK_FALSE(completions[0].token_ids.empty());
  CHECK(completions[3].token_ids == completions[0].token_ids);
}

TEST_CASE("local policy: a folder that is none, or whose weights are cut, is an error") {
  CHECK_THROWS_AS(make_local_policy(kGolden), Error);
  const test::TempFolder folder;
  std::filesystem::copy(kGolden + "/model", folder / "model");
  std::filesystem::resize_file(folder / "model/model.safetensors", 5000);
  CHECK_THROWS_AS(make_local_policy(folder / "model"), Error);
}

TEST_CASE("local policy: adapters of one base are policies that share its model") {
  const test::TempFolder folder;
  std::filesystem::copy(kGolden + "/model", folder / "base");
  write_role(folder / "solver", "../base", 1);
  write_role(folder / "critic", (folder / "base").string(), 2);
  const auto base = make_local_policy(folder / "base"), solver = make_local_policy(folder / "solver"),
             critic = make_local_policy(folder / "critic");
  CHECK(solver->capabilities().name == "solver");
  CHECK(solver->capabilities().images == base->capabilities().images);
  CHECK(&solver->model() == &base->model());
  CHECK(&solver->model() == &critic->model());
  CHECK(&make_local_policy(folder / "base", {.threads = 1})->model() != &base->model());
  const CompletionRequest request = golden_request(golden_cases()[0], 1.0);
  std::vector<std::vector<float>> logprobs;
  for (LocalPolicy* const policy : {base.get(), solver.get(), critic.get()}) {
    const Completion written = policy->complete({&request, 1}).at(0);
    const ScoreRequest again{request.messages, written.token_ids, 1.0, {}};
    CHECK(policy->score({&again, 1}).at(0).logprobs == written.logprobs);
    logprobs.push_back(written.logprobs);
  }
  CHECK(logprobs[0] != logprobs[1]);
  CHECK(logprobs[1] != logprobs[2]);
  const auto alone = make_local_policy(kGolden + "/model");
  CHECK(&alone->model() != &base->model());
  CHECK(alone->complete({&request, 1}).at(0).logprobs == logprobs[0]);
}

TEST_CASE("local policy: a model whose files have changed is another one") {
  const test::TempFolder folder;
  std::filesystem::copy(kGolden + "/model", folder / "base");
  const auto before = make_local_policy(folder / "base");
  agon::write_file_atomically((folder / "base/generation_config.json").string(), R"({"eos_token_id": 1})");
  const auto after = make_local_policy(folder / "base");
  CHECK(&before->model() != &after->model());
  CHECK(after->model().folder.config.eos_token_ids == std::vector<std::int32_t>{1});
}

TEST_CASE("local policy: an adapter without its base, or of another one, is an error") {
  const test::TempFolder folder;
  write_role(folder / "solver", "../base", 1);
  CHECK_THROWS_WITH(make_local_policy(folder / "solver"), Catch::Contains("../base"));
  PolicySource source(folder / "solver");
  CHECK_THROWS_WITH(open_policy(source), Catch::Contains("../base"));
  write_role(folder / "solver", agon::test::source_path("models/agon-tiny").string(), 1);
  CHECK_THROWS_WITH(make_local_policy(folder / "solver"), Catch::Contains("Is the adapter of another model?"));
}

TEST_CASE("local policy: an adapter's fingerprint tells its matrices and its base") {
  const test::TempFolder folder;
  std::filesystem::copy(kGolden + "/model", folder / "base");
  write_role(folder / "one", "../base", 1);
  write_role(folder / "two", "../base", 2);
  const auto fingerprint = [&](const char* name) { return PolicySource(folder / name).fingerprint(); };
  const std::string first = fingerprint("one");
  CHECK(first != fingerprint("two"));
  CHECK(first == fingerprint("one"));
  agon::write_file_atomically((folder / "base/generation_config.json").string(), R"({"eos_token_id": 1})");
  CHECK(first != fingerprint("one"));
}

TEST_CASE("local policy: penalties and biases change what is drawn, and no log-probability") {
  const auto policy = make_local_policy(agon::test::source_path("models/agon-tiny"), {.threads = 1});
  CompletionRequest request{{Message::of(Role::user, "What is 2 + 3?")}, {}, 1, {}};
  request.sampling.temperature = 0;
  request.sampling.max_tokens = 12;
  const auto ask = [&] { return policy->complete({&request, 1}).at(0); };
  const Completion plain = ask();
  request.sampling.changes.bias = {{plain.token_ids[0], -std::numeric_limits<float>::infinity()}};
  const Completion without = ask();
  CHECK(std::count(without.token_ids.begin(), without.token_ids.end(), plain.token_ids[0]) == 0);
  const ScoreRequest written{request.messages, without.token_ids, 1.0, {}};
  CHECK(policy->score({&written, 1}).at(0).logprobs == without.logprobs);
  request.sampling.changes = {.banned = {{plain.token_ids[0], plain.token_ids[1]}}};  // the first alone is allowed
  const Completion parted = ask();
  CHECK(parted.token_ids[0] == plain.token_ids[0]);
  CHECK(parted.token_ids[1] != plain.token_ids[1]);
  request.sampling.changes = {.banned = {{1 << 20}}};
  CHECK_THROWS_WITH(ask(), Catch::Contains("banned token 1048576"));
  request.sampling.changes = {.banned = {{}}};
  CHECK_THROWS_WITH(ask(), Catch::Contains("is empty"));
  request.sampling.changes = {};
  const int vocabulary = open_model_folder(agon::test::source_path("models/agon-tiny")).config.text.vocab_size;
  for (std::int32_t id = 0; id < vocabulary; ++id) request.sampling.changes.banned.push_back({id});
  CHECK_THROWS_WITH(ask(), Catch::Contains("Ban fewer"));
  request.sampling.changes.banned.erase(request.sampling.changes.banned.begin() + plain.token_ids[0]);
  CHECK(ask().token_ids == std::vector<std::int32_t>(12, plain.token_ids[0]));
  request.sampling.changes = {.frequency_penalty = 1000};  // no token twice
  const Completion penalised = ask();
  CHECK(std::set<std::int32_t>(penalised.token_ids.begin(), penalised.token_ids.end()).size() ==
        penalised.token_ids.size());
  request.sampling.changes = {.bias = {{1 << 20, 1.0F}}};
  CHECK_THROWS_WITH(ask(), Catch::Contains("logit_bias of the token 1048576"));
  request.sampling.changes = {.repetition_penalty = 0};
  CHECK_THROWS_WITH(ask(), Catch::Contains("repetition_penalty 0"));
}
