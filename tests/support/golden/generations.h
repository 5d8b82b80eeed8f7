// tests/support/golden/generations.h - golden models of every architecture with the greedy completions of transformers.
// Also compares the completions of a device with those of agon's kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "agents/engine/local_policy.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "paths.h"

namespace agon::test {

struct GoldenGeneration {
  std::string folder;
  std::vector<agents::CompletionRequest> requests;
  std::vector<std::vector<std::int32_t>> ids;  // completions of transformers
};

inline agents::CompletionRequest greedy_request(std::vector<Message> messages, int max_tokens) {
  agents::CompletionRequest request{std::move(messages), {}, 1, {}};
  request.sampling.temperature = 0;
  request.sampling.max_tokens = max_tokens;
  return request;
}

// A question about pictures. system: the system message; may be empty.
inline std::vector<Message> question(const std::string& system, const std::vector<std::string>& pictures,
                                     const std::string& text) {
  std::vector<Message> messages;
  if (!system.empty()) messages.push_back(Message::of(Role::system, system));
  Message asked{Role::user, {}, {}, {}};
  for (const std::string& picture : pictures) asked.parts.push_back(Part::of(load_image(picture)));
  asked.parts.push_back(Part::of(text));
  messages.push_back(std::move(asked));
  return messages;
}

inline void add_golden(const Json& example, agents::CompletionRequest request, GoldenGeneration& golden) {
  golden.requests.push_back(std::move(request));
  golden.ids.push_back(example["ids"].get<std::vector<std::int32_t>>());
}

inline std::vector<GoldenGeneration> golden_generations() {
  std::vector<GoldenGeneration> all;
  const auto expected = [](const std::string& set) { return Json::parse(read_file(set + "/expected.json")); };
  const std::string text = golden_path("text_models"), seeing = golden_path("qwen_vl/generation"),
                    first = golden_path("generation");
  const Json texts = expected(text)["models"], seers = expected(seeing)["models"], cases = expected(first)["cases"];
  for (const auto& [name, examples] : texts.items()) {
    GoldenGeneration& golden = all.emplace_back(GoldenGeneration{text + "/" + name});
    for (const Json& example : examples)
      add_golden(example, greedy_request(question("", {}, example["prompt"].get<std::string>()), 40), golden);
  }
  for (const auto& [name, examples] : seers.items()) {
    GoldenGeneration& golden = all.emplace_back(GoldenGeneration{seeing + "/" + name});
    for (const Json& example : examples) {
      std::vector<std::string> pictures;
      for (const Json& picture : example["pictures"])
        pictures.push_back(fmt::format("{}/{}-{}.png", seeing, name, picture.get<int>()));
      add_golden(example, greedy_request(question("", pictures, example["prompt"].get<std::string>()), 24), golden);
    }
  }
  GoldenGeneration& golden = all.emplace_back(GoldenGeneration{first + "/model"});
  for (const Json& example : cases) {
    const std::vector<std::string> pictures(example["picture"].get<bool>() ? 1 : 0, first + "/picture.png");
    add_golden(example,
               greedy_request(
                   question(example["system"].get<std::string>(), pictures, example["prompt"].get<std::string>()), 40),
               golden);
  }
  return all;
}

// Largest difference of two lists of log-probabilities; infinite if their lengths differ.
inline double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

// Differences between a device and agon's kernels, both in fp32.
struct DeviceAgainstKernels {
  int completions = 0, equal_tokens = 0;  // greedy; equal to the kernels' and transformers'
  double logprob = 0;                     // largest difference of their log-probabilities
  double sampled = 0;  // the same for samples that share their prompt, against the kernels' scores of them
  double scoring = 0;  // the same for the device's own scores of both
};

inline DeviceAgainstKernels against_kernels(const GoldenGeneration& golden, const std::string& device) {
  using agents::WeightKind;
  const auto ours = agents::make_local_policy(golden.folder,
                                              {.threads = 1, .backend = {.memory = {.weights = WeightKind::f32}}}),
             theirs = agents::make_local_policy(
                 golden.folder, {.backend = {.device = device, .memory = {.weights = WeightKind::f32}}});
  const auto expected = ours->complete(golden.requests), written = theirs->complete(golden.requests);
  DeviceAgainstKernels result;
  for (std::size_t i = 0; i < written.size(); ++i) {
    ++result.completions;
    result.equal_tokens += written[i].token_ids == expected[i].token_ids && written[i].token_ids == golden.ids[i];
    result.logprob = std::max(result.logprob, largest_difference(written[i].logprobs, expected[i].logprobs));
    const agents::ScoreRequest again{golden.requests[i].messages, written[i].token_ids, 1.0};
    result.scoring =
        std::max(result.scoring, largest_difference(theirs->score({&again, 1}).at(0).logprobs, written[i].logprobs));
  }
  std::vector<agents::CompletionRequest> sampled = golden.requests;
  for (agents::CompletionRequest& request : sampled) {
    request.n = 4;
    request.sampling.temperature = 0.9;
  }
  const auto samples = theirs->complete(sampled);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const agents::ScoreRequest again{sampled[i / 4].messages, samples[i].token_ids, 0.9};
    result.sampled =
        std::max(result.sampled, largest_difference(ours->score({&again, 1}).at(0).logprobs, samples[i].logprobs));
    result.scoring =
        std::max(result.scoring, largest_difference(theirs->score({&again, 1}).at(0).logprobs, samples[i].logprobs));
  }
  return result;
}

}  // namespace agon::test
