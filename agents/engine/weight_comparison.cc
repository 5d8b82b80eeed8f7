#include "agents/engine/weight_comparison.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "agents/engine/engine.h"
#include "agents/engine/open_backend.h"
#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::string_view kTexts[] = {
    "The lighthouse keeper climbed the stairs every evening, counting each step although he had known the number for "
    "thirty years. That night the lamp would not light. He cleaned the glass, trimmed the wick and tried again, while "
    "far out on the water a small boat turned slowly towards the rocks.",
    "def fibonacci(n):\n    \"\"\"Return the n-th Fibonacci number.\"\"\"\n    a, b = 0, 1\n    for _ in range(n):\n"
    "        a, b = b, a + b\n    return a\n\nassert [fibonacci(i) for i in range(7)] == [0, 1, 1, 2, 3, 5, 8]\n",
    "Question: A baker sells 14 loaves in the morning and 3 times as many in the afternoon. How many loaves does she "
    "sell in a day?\nAnswer: In the afternoon she sells 3 * 14 = 42 loaves. Together 14 + 42 = 56. The answer is 56.",
    "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": 3, \"units\": \"metric\"}}\n"
    "{\"name\": \"send_mail\", \"arguments\": {\"to\": [\"anna@example.org\"], \"subject\": \"Weather\"}}\n",
    "Die Brücke wurde im Jahr 1891 gebaut und verbindet seitdem die beiden Ufer des Flusses.\n"
    "这座桥建于1891年，从那时起一直连接着河的两岸。\n"};

struct Scored {
  std::vector<float> logprobs;
  std::vector<std::int32_t> greedy;
  std::int64_t weight_bytes = 0;
};

std::vector<ScoringRequest> requests_of(const ModelFolder& model) {
  const auto context = static_cast<std::size_t>(model.config.text.max_position_embeddings);
  std::vector<ScoringRequest> requests;
  for (const std::string_view text : kTexts) {
    std::vector<std::int32_t> ids = model.tokenizer->encode(text);
    ids.resize(std::min(ids.size(), context));
    if (ids.size() < 2) continue;
    ScoringRequest& request = requests.emplace_back();
    request.prompt.ids = {ids.front()};
    request.token_ids.assign(ids.begin() + 1, ids.end());
    request.alternatives = 1;
  }
  if (requests.empty()) throw Error("{}: its tokenizer gives no tokens for any text.", model.path.string());
  return requests;
}

Scored score(const ModelFolder& model, const MemoryWish& wish, const std::vector<ScoringRequest>& requests) {
  Engine engine(open_backend(model.path, model.config, {.memory = wish}), model.config, model.tokenizer, {});
  Scored scored;
  scored.weight_bytes = engine.memory().weight_bytes;
  for (const TokenScores& one : engine.score(requests)) {
    scored.logprobs.insert(scored.logprobs.end(), one.logprobs.begin(), one.logprobs.end());
    for (const std::vector<Alternative>& place : one.alternatives) scored.greedy.push_back(place.at(0).id);
  }
  return scored;
}

WeightDifference difference(WeightKind kind, const Scored& exact, const Scored& near) {
  WeightDifference result{.weights = kind, .weight_bytes = near.weight_bytes, .tokens = std::ssize(exact.logprobs)};
  const auto tokens = static_cast<double>(result.tokens);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < exact.logprobs.size(); ++i) {
    const double apart = std::abs(static_cast<double>(near.logprobs[i]) - static_cast<double>(exact.logprobs[i]));
    result.mean += apart / tokens;
    result.largest = std::max(result.largest, apart);
    equal += near.greedy[i] == exact.greedy[i];
  }
  result.equal_greedy = static_cast<double>(equal) / tokens;
  return result;
}

}  // namespace

std::vector<WeightDifference> compare_weights(const ModelFolder& model, std::span<const WeightKind> kinds,
                                              const MemoryWish& wish, const std::function<void()>& done) {
  const std::vector<ScoringRequest> requests = requests_of(model);
  const Scored exact = score(model, {WeightKind::f32, kernels::KeyType::f32, wish.limit}, requests);
  done();
  std::vector<WeightDifference> differences;
  for (const WeightKind kind : kinds) {
    differences.push_back(difference(kind, exact, score(model, {kind, wish.keys, wish.limit}, requests)));
    done();
  }
  return differences;
}

}  // namespace agon::agents
