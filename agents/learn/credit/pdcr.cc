// PDCR (Algorithm 1): every step of a response gains or loses confidence in the gold answer; its discounted return is
// scaled to [0, 1] among the steps of its kind, visual or textual, and mixed with the advantage of the outcome. PACR is
// the same with one kind.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "agents/learn/credit/group.h"
#include "agents/learn/credit/methods.h"
#include "agents/learn/credit/otsu.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/rng.h"

namespace agon::agents {
namespace {

// Returns that differ by no more count as equal: log-probabilities are accurate to about 1e-5, and scaling the noise to
// [0, 1] would make it as large as real credit.
constexpr double kLeastRange = 1e-4;

enum class Split { otsu, top_k, random, none };

struct PdcrSettings {
  double kl = 0.01, lambda_outcome = 0.7, lambda_process = 0.3, gamma = 1;
  Split split = Split::otsu;
  bool threshold_of_batch = false, pool_of_batch = false, center = false;
  OtsuThreshold threshold = OtsuThreshold::midpoint;
  double visual_share = 0.314;
  int seed = 0;
  GroupScale scale;
  LossMean mean = LossMean::token;
};

// The steps of one roll-out: gains, returns, kinds, and the returns scaled among the steps of their kind.
struct Steps {
  std::vector<double> gain, returns, process;
  std::vector<bool> visual;
  std::optional<double> threshold;
};
using GroupSteps = std::vector<Steps>;  // of a group's roll-outs

bool is_step(const CreditSegment& segment) {
  return segment.kind == env::SegmentKind::think || segment.kind == env::SegmentKind::step;
}

std::size_t count_steps(const CreditRollout& rollout) {
  return static_cast<std::size_t>(std::count_if(rollout.segments.begin(), rollout.segments.end(), is_step));
}

// g_k = c_k - c_{k-1}; G_k = g_k + gamma G_{k+1}
Steps steps_of(const CreditRollout& rollout, double gamma) {
  const std::size_t count = count_steps(rollout);
  Steps steps;
  for (std::size_t k = 0; k < count; ++k)
    steps.gain.push_back(rollout.step_confidence[k + 1] - rollout.step_confidence[k]);
  steps.returns = steps.gain;
  for (std::size_t k = count; k-- > 1;) steps.returns[k - 1] += gamma * steps.returns[k];
  steps.process.resize(count);
  steps.visual.resize(count);
  return steps;
}

// The number of visual steps if they are this share of all.
std::size_t visual_count(std::size_t steps, double share) {
  return static_cast<std::size_t>(std::lround(share * static_cast<double>(steps)));
}

void mark_first(Steps& steps, const std::vector<std::size_t>& order, double share) {
  for (std::size_t i = 0; i < visual_count(order.size(), share); ++i) steps.visual[order[i]] = true;
}

std::vector<std::size_t> numbers_below(std::size_t count) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

void split_by_threshold(Steps& steps, const std::vector<double>& visual_dependence, std::optional<double> threshold) {
  steps.threshold = threshold;
  for (std::size_t k = 0; threshold && k < steps.visual.size(); ++k)
    steps.visual[k] = visual_dependence[k] >= *threshold;
}

void split_by_rank(Steps& steps, const std::vector<double>& visual_dependence, double share) {
  std::vector<std::size_t> order = numbers_below(steps.visual.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return visual_dependence[a] > visual_dependence[b]; });
  mark_first(steps, order, share);
}

// The draw depends on the roll-out's content and not on its place in the batch.
void split_at_random(Steps& steps, const CreditRollout& rollout, const PdcrSettings& settings) {
  std::string content(rollout.step_confidence.size() * sizeof(double), '\0');
  if (!content.empty()) std::memcpy(content.data(), rollout.step_confidence.data(), content.size());
  Rng rng = Rng::derive(static_cast<std::uint64_t>(settings.seed), "credit split", {}, hash_text(content));
  std::vector<std::size_t> order = numbers_below(steps.visual.size());
  rng.shuffle(order);
  mark_first(steps, order, settings.visual_share);
}

class Pdcr : public CreditAssigner {
 public:
  Pdcr(std::string_view name, PdcrSettings settings) : name_(name), settings_(settings) {}

  GroupCredit assign(const CreditGroup& group) const override { return assign_batch({group}).front(); }
  std::vector<GroupCredit> assign_batch(const std::vector<CreditGroup>& groups) const override {
    for (const CreditGroup& group : groups) check(group);
    std::vector<GroupSteps> steps;
    for (const CreditGroup& group : groups) {
      GroupSteps& own = steps.emplace_back();
      for (const CreditRollout& rollout : group) own.push_back(steps_of(rollout, settings_.gamma));
    }
    split(groups, steps);
    scale(steps);
    std::vector<GroupCredit> credits;
    for (std::size_t i = 0; i < groups.size(); ++i) credits.push_back(credit_of(groups[i], steps[i]));
    return credits;
  }
  std::string_view name() const override { return name_; }
  bool needs_confidence() const override { return true; }
  bool needs_visual() const override { return settings_.split == Split::otsu || settings_.split == Split::top_k; }

 private:
  void check(const CreditGroup& group) const {
    check_group(group, name_);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::size_t count = count_steps(group[i]);
      if (count > 0 || group[i].step_confidence.size() > 1)
        check_numbers(group[i].step_confidence, count + 1, i, "step_confidence", count);
      if (needs_visual()) check_numbers(group[i].step_visual, count, i, "step_visual", count);
    }
  }
  void check_numbers(const std::vector<double>& numbers, std::size_t wanted, std::size_t rollout, const char* key,
                     std::size_t steps) const {
    if (numbers.size() != wanted)
      throw Error("credit: {}: roll-out {} has {} entries in {}; its {} steps (segments think and step) need {}.",
                  name_, rollout, numbers.size(), key, steps, wanted);
    for (const double number : numbers)
      if (!(std::abs(number) <= kGreatestNumber))
        throw Error("credit: {}: roll-out {} has {} in {}; log-probabilities are finite numbers of at most {:g}.",
                    name_, rollout, number, key, kGreatestNumber);
  }

  void split(const std::vector<CreditGroup>& groups, std::vector<GroupSteps>& steps) const {
    std::vector<double> all;
    if (settings_.split == Split::otsu && settings_.threshold_of_batch)
      for (const CreditGroup& group : groups)
        for (const CreditRollout& rollout : group)
          all.insert(all.end(), rollout.step_visual.begin(), rollout.step_visual.end());
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t j = 0; j < groups[i].size(); ++j) split_one(groups[i][j], steps[i][j], all);
  }
  void split_one(const CreditRollout& rollout, Steps& steps, const std::vector<double>& all_visual) const {
    const std::vector<double>& visual = rollout.step_visual;
    if (settings_.split == Split::otsu)
      split_by_threshold(steps, visual,
                         otsu_threshold(settings_.threshold_of_batch ? all_visual : visual, settings_.threshold));
    if (settings_.split == Split::top_k) split_by_rank(steps, visual, settings_.visual_share);
    if (settings_.split == Split::random) split_at_random(steps, rollout, settings_);
  }

  // Scales the returns of each kind to [0, 1] by their least and greatest, in the group or in the whole batch.
  void scale(std::vector<GroupSteps>& steps) const {
    std::vector<Steps*> batch;
    for (GroupSteps& group : steps) {
      std::vector<Steps*> own;
      for (Steps& rollout : group) own.push_back(&rollout);
      if (!settings_.pool_of_batch) scale_pool(own);
      batch.insert(batch.end(), own.begin(), own.end());
    }
    if (settings_.pool_of_batch) scale_pool(batch);
  }
  void scale_pool(const std::vector<Steps*>& pool) const {
    for (const bool visual : {false, true}) {
      std::vector<double> returns;
      for (const Steps* steps : pool)
        for (std::size_t k = 0; k < steps->returns.size(); ++k)
          if (steps->visual[k] == visual) returns.push_back(steps->returns[k]);
      if (returns.empty()) continue;
      const auto [low, high] = std::minmax_element(returns.begin(), returns.end());
      if (*high - *low <= kLeastRange) continue;  // their process credit stays 0
      const double middle = settings_.center ? (mean_of(returns) - *low) / (*high - *low) : 0;
      for (Steps* steps : pool)
        for (std::size_t k = 0; k < steps->returns.size(); ++k)
          if (steps->visual[k] == visual) steps->process[k] = (steps->returns[k] - *low) / (*high - *low) - middle;
    }
  }

  GroupCredit credit_of(const CreditGroup& group, const GroupSteps& steps) const {
    const std::vector<double> rewards = answer_rewards(group);
    const std::vector<double> outcome = group_advantage(rewards, settings_.scale);
    std::vector<double> base;
    for (const double advantage : outcome) base.push_back(settings_.lambda_outcome * advantage);
    GroupCredit credit = no_credit(group);
    set_tokens(credit, &TokenCredit::advantage, group, is_written, base);
    set_tokens(credit, &TokenCredit::kl, group, is_written, settings_.kl);
    weigh(credit, group, is_written, settings_.mean, static_cast<int>(group.size()));
    for (std::size_t i = 0; i < group.size(); ++i) {
      add_process(credit.rollouts[i].advantage, group[i], steps[i], base[i]);
      credit.rollout_figures[i] = {{"reward", rewards[i]}, {"outcome_advantage", outcome[i]}};
      credit.rollout_figures[i].update(figures_of(group[i], steps[i]));
    }
    add_shares(credit, steps);
    return finished(std::move(credit));
  }

  void add_process(std::vector<float>& advantage, const CreditRollout& rollout, const Steps& steps, double base) const {
    auto token = advantage.begin();
    std::size_t step = 0;
    for (const CreditSegment& segment : rollout.segments) {
      if (is_step(segment)) {
        const double total = base + settings_.lambda_process * steps.process[step++];
        std::fill_n(token, segment.tokens, static_cast<float>(total));
      }
      token += segment.tokens;
    }
  }

  Json figures_of(const CreditRollout& rollout, const Steps& steps) const {
    Json figures{{"g", steps.gain}, {"G", steps.returns}};
    if (!rollout.step_visual.empty()) figures["V"] = rollout.step_visual;
    if (settings_.split == Split::otsu) figures["threshold"] = steps.threshold ? Json(*steps.threshold) : Json();
    if (settings_.split != Split::none) {
      figures["clusters"] = Json::array();
      for (const bool visual : steps.visual) figures["clusters"].push_back(visual ? "visual" : "textual");
    }
    figures["process_advantage"] = steps.process;
    return figures;
  }

  void add_shares(GroupCredit& credit, const GroupSteps& steps) const {
    std::size_t count = 0, visual = 0;
    for (const Steps& rollout : steps) {
      count += rollout.visual.size();
      visual += static_cast<std::size_t>(std::count(rollout.visual.begin(), rollout.visual.end(), true));
    }
    credit.figures["steps"] = count;
    if (settings_.split == Split::none) return;
    credit.figures["visual_steps"] = visual;
    if (count > 0) credit.figures["visual_share"] = static_cast<double>(visual) / static_cast<double>(count);
  }

  std::string_view name_;
  PdcrSettings settings_;
};

PdcrSettings read_mixing(CreditSettings& settings) {
  PdcrSettings read;
  read.kl = settings.number("kl", read.kl, 0);
  read.lambda_outcome = settings.number("lambda_o", read.lambda_outcome, 0);
  read.lambda_process = settings.number("lambda_p", read.lambda_process, 0);
  read.gamma = settings.number("gamma", read.gamma, 0, 1);
  read.pool_of_batch = settings.choice("pool", {"prompt", "batch"}) == "batch";
  read.center = settings.flag("center", read.center);
  read.scale = read_group_scale(settings);
  read.mean = read_loss_mean(settings, read.mean);
  return read;
}

Split read_split(CreditSettings& settings) {
  const std::string name = settings.choice("split", {"otsu", "top_k", "random", "none"});
  return name == "otsu" ? Split::otsu : name == "top_k" ? Split::top_k : name == "random" ? Split::random : Split::none;
}

}  // namespace

std::unique_ptr<CreditAssigner> make_pdcr(CreditSettings& settings) {
  PdcrSettings read = read_mixing(settings);
  read.split = read_split(settings);
  read.threshold_of_batch = settings.choice("otsu", {"trajectory", "batch"}) == "batch";
  read.threshold = settings.choice("threshold", {"midpoint", "literal"}) == "literal" ? OtsuThreshold::literal
                                                                                      : OtsuThreshold::midpoint;
  read.visual_share = settings.number("visual_share", read.visual_share, 0, 1);
  read.seed = settings.whole("seed", read.seed, 0);
  return std::make_unique<Pdcr>("pdcr", read);
}

std::unique_ptr<CreditAssigner> make_pacr(CreditSettings& settings) {
  PdcrSettings read = read_mixing(settings);
  read.split = Split::none;
  return std::make_unique<Pdcr>("pacr", read);
}

}  // namespace agon::agents
