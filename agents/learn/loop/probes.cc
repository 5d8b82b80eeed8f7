#include "agents/learn/loop/probes.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "agents/learn/network/packed_batch.h"
#include "agents/learn/network/token_logprob.h"
#include "core/error.h"

namespace agon::agents {
namespace {

using at::Tensor;

// A response is read up to its last step.
int read_length(const ProbedRollout& rollout) { return rollout.steps.empty() ? 0 : rollout.steps.back().end; }

// A later turn of a response may show the only picture.
bool has_pictures(const ProbeGroup& group) {
  return !group.prompt.images.empty() ||
         std::any_of(group.rollouts.begin(), group.rollouts.end(),
                     [](const auto& rollout) { return !rollout.response.images.empty(); });
}

bool has_changed_pictures(const ProbeGroup& group) {
  return !group.changed_images.empty() ||
         std::any_of(group.rollouts.begin(), group.rollouts.end(),
                     [](const auto& rollout) { return !rollout.changed_images.empty(); });
}

std::int64_t rows_of(const ProbeGroup& group) {
  const auto branch = [&](const std::vector<std::int32_t>& suffix) {
    return std::ssize(suffix) + std::ssize(group.answer);
  };
  const std::int64_t trunks = has_changed_pictures(group) ? 2 : 1;
  std::int64_t rows = trunks * std::ssize(group.prompt.ids) + branch(group.suffix);
  for (const ProbedRollout& rollout : group.rollouts) {
    rows += trunks * read_length(rollout);
    for (const ProbedStep& step : rollout.steps) rows += branch(step.suffix);
  }
  return rows;
}

void check_group(const ProbeGroup& group) {
  if (group.answer.empty()) throw Error("probes: the gold answer has no tokens.");
  if (group.prompt.ids.empty()) throw Error("probes: an empty prompt.");
  const auto check_pictures = [&](const PatchedImages& changed, const PatchedImages& images) {
    if (has_changed_pictures(group) && changed.size() != images.size())
      throw Error("probes: {} changed pictures for {}.", changed.size(), images.size());
  };
  check_pictures(group.changed_images, group.prompt.images);
  for (const ProbedRollout& rollout : group.rollouts) {
    check_pictures(rollout.changed_images, rollout.response.images);
    int last = 0;
    for (const ProbedStep& step : rollout.steps) {
      if (step.begin < last || step.end <= step.begin || step.end > std::ssize(rollout.response.ids))
        throw Error("probes: a step of tokens {} to {} after token {} in a response of {}.", step.begin, step.end, last,
                    rollout.response.ids.size());
      last = step.end;
    }
  }
}

EncodedPrompt first_tokens(const ProbedRollout& rollout, const PatchedImages& images, const ModelConfig& config) {
  EncodedPrompt text;
  text.ids.assign(rollout.response.ids.begin(), rollout.response.ids.begin() + read_length(rollout));
  // Only whole pictures: a step never ends inside one.
  std::size_t pictures = 0;
  for (std::size_t i = 0; i < text.ids.size(); ++i)
    pictures += config.shows(text.ids[i]) && (i == 0 || !config.shows(text.ids[i - 1]));
  text.images.assign(images.begin(), images.begin() + static_cast<std::ptrdiff_t>(std::min(pictures, images.size())));
  return text;
}

// The rows of some groups, and the result that each predicted token's log-probability belongs to.
class ProbeBatch {
 public:
  explicit ProbeBatch(const ModelConfig& config) : config_(config), builder_(config) {}

  void add(const ProbeGroup& group, std::vector<StepProbes>& results) {
    for (std::size_t i = 0; i < group.rollouts.size(); ++i) {
      const std::size_t steps = group.rollouts[i].steps.size();
      results[i].confidence.assign(steps + 1, 0);
      if (has_changed_pictures(group) || !has_pictures(group)) results[i].visual.assign(steps, 0);
    }
    if (results.empty()) return;
    add_trunks(group, group.prompt.images, results, 1);
    if (has_changed_pictures(group)) add_trunks(group, group.changed_images, results, -1);
  }

  // Adds every log-probability to its result.
  void run(TransformerNetwork& model, double temperature) {
    const PackedBatch batch = builder_.take().to(model.device());
    Tensor pictures;
    if (batch.patches.defined()) pictures = model.encode_images(batch.patches, batch.grids);
    const Tensor hidden = model.packed_hidden_states(batch, pictures).index_select(0, batch.predictors).to(at::kFloat);
    const Tensor logprobs =
        token_logprobs(hidden, model.lm_head(), batch.targets, temperature).logprob.to(at::kCPU, at::kDouble);
    for (std::size_t i = 0; i < sinks_.size(); ++i)
      *sinks_[i].to += sinks_[i].factor * logprobs.const_data_ptr<double>()[i];
  }

 private:
  struct Sink {
    double* to;
    double factor;
  };

  // The prompt and its responses; the answers branch off those with the true pictures (factor 1).
  void add_trunks(const ProbeGroup& group, const PatchedImages& images, std::vector<StepProbes>& results,
                  double factor) {
    const bool with_answers = factor > 0;
    std::vector<EncodedPrompt> responses;
    for (const ProbedRollout& rollout : group.rollouts)
      responses.push_back(
          first_tokens(rollout, with_answers ? rollout.response.images : rollout.changed_images, config_));
    const PackedGroup texts = make_packed_group({group.prompt.ids, images}, responses, config_);
    const PackedSegment prompt = builder_.add_root(texts.prompt);
    if (with_answers) add_answer(group, group.suffix, texts.prompt, prompt, prompt.length, &results[0].confidence[0]);
    for (std::size_t i = 0; i < texts.responses.size(); ++i) {
      const ProbedRollout& rollout = group.rollouts[i];
      const PackedSegment response = builder_.add(texts.responses[i], prompt.length);
      if (has_changed_pictures(group)) add_words(rollout, response, prompt, results[i], factor);
      if (!with_answers) continue;
      for (std::size_t k = rollout.steps.size(); k-- > 0;)  // branches come longest first
        add_answer(group, rollout.steps[k].suffix, texts.responses[i], response, rollout.steps[k].end,
                   &results[i].confidence[k + 1]);
    }
  }

  void add_words(const ProbedRollout& rollout, const PackedSegment& response, const PackedSegment& prompt,
                 StepProbes& result, double factor) {
    for (std::size_t k = 0; k < rollout.steps.size(); ++k)
      for (int token = rollout.steps[k].begin; token < rollout.steps[k].end; ++token)
        predict(token == 0 ? prompt.begin + prompt.length - 1 : response.begin + token - 1,
                rollout.response.ids[static_cast<std::size_t>(token)], &result.visual[k], factor);
  }

  // suffix + answer after the first `count` tokens of a trunk.
  void add_answer(const ProbeGroup& group, const std::vector<std::int32_t>& suffix, const PackedSequence& trunk,
                  const PackedSegment& at, std::int64_t count, double* confidence) {
    const auto& last = trunk.positions[static_cast<std::size_t>(count - 1)];
    std::int32_t position = *std::max_element(last.begin(), last.end());
    PackedSequence branch;
    branch.ids = suffix;
    branch.ids.insert(branch.ids.end(), group.answer.begin(), group.answer.end());
    for (std::size_t i = 0; i < branch.ids.size(); ++i) {
      ++position;
      branch.positions.push_back({position, position, position});
    }
    const PackedSegment segment = builder_.add(branch, at.prefix + count);
    for (std::int64_t i = std::ssize(suffix); i < segment.length; ++i)
      predict(i == 0 ? at.begin + count - 1 : segment.begin + i - 1, branch.ids[static_cast<std::size_t>(i)],
              confidence, 1);
  }

  void predict(std::int64_t row, std::int32_t token, double* to, double factor) {
    builder_.predict(row, token);
    sinks_.push_back({to, factor});
  }

  const ModelConfig& config_;
  PackedBatchBuilder builder_;
  std::vector<Sink> sinks_;
};

}  // namespace

std::vector<std::vector<StepProbes>> probe_steps(TransformerNetwork& model, std::span<const ProbeGroup> groups,
                                                 double temperature, std::int64_t rows_per_pass) {
  const at::NoGradGuard no_grad;
  for (const ProbeGroup& group : groups) check_group(group);
  std::vector<std::vector<StepProbes>> results;
  for (const ProbeGroup& group : groups) results.emplace_back(group.rollouts.size());
  for (std::size_t next = 0; next < groups.size();) {
    ProbeBatch batch(model.config());
    std::int64_t rows = 0;
    do {
      batch.add(groups[next], results[next]);
      rows += rows_of(groups[next]);
      ++next;
    } while (next < groups.size() && rows + rows_of(groups[next]) <= rows_per_pass);
    batch.run(model, temperature);
  }
  for (std::vector<StepProbes>& group : results)
    for (StepProbes& probes : group) probes.confidence[0] = group[0].confidence[0];
  return results;
}

void take_token_means(const ProbeGroup& group, std::vector<StepProbes>& probes) {
  for (std::size_t i = 0; i < probes.size(); ++i) {
    for (double& confidence : probes[i].confidence) confidence /= static_cast<double>(group.answer.size());
    for (std::size_t k = 0; k < probes[i].visual.size(); ++k) {
      const ProbedStep& step = group.rollouts[i].steps[k];
      probes[i].visual[k] /= step.end - step.begin;
    }
  }
}

}  // namespace agon::agents
