// ADPO: the answer learns from its reward, the score from its preference reward; each has its own group advantage, its
// own tokens and its own mean (Eq. 11). The binary baseline replaces the preference reward by a comparison with
// thresholds.
#include <algorithm>

#include "agents/learn/credit/adpo_masks.h"
#include "agents/learn/credit/group.h"
#include "agents/learn/credit/methods.h"
#include "agents/learn/credit/preference.h"

namespace agon::agents {
namespace {

struct DecoupledSettings {
  double kl = 0.01;
  GroupScale scale;
  bool mean_of_response = false;  // weights 1 / (G * tokens of the response), not of the segment
};

DecoupledSettings read_decoupled(CreditSettings& settings) {
  DecoupledSettings read;
  read.kl = settings.number("kl", read.kl, 0);
  read.scale = read_group_scale(settings);
  read.mean_of_response = settings.choice("mean", {"segment", "response"}) == "response";
  return read;
}

// ADPO without the reward of the scores, which subclasses define.
class Decoupled : public CreditAssigner {
 public:
  explicit Decoupled(DecoupledSettings settings, PreferenceSettings preference = {})
      : preference_(preference), settings_(settings) {}

  GroupCredit assign(const CreditGroup& group) const final { return assign_batch({group}).front(); }

  std::vector<GroupCredit> assign_batch(const std::vector<CreditGroup>& groups) const final {
    for (const CreditGroup& group : groups) check_group(group, name());
    const std::vector<ContrastPool> pools = contrast_pools(groups, preference_);
    std::vector<GroupCredit> credits;
    for (std::size_t i = 0; i < groups.size(); ++i) credits.push_back(credit_of(groups[i], pools[i]));
    return credits;
  }

 protected:
  PreferenceSettings preference_;

 private:
  GroupCredit credit_of(const CreditGroup& group, const ContrastPool& pool) const {
    GroupCredit credit = no_credit(group);
    for (std::size_t i = 0; i < group.size(); ++i)
      credit.rollout_figures[i]["score"] = group[i].score ? Json(*group[i].score) : Json();
    const std::vector<double> score_rewards = reward_scores(group, pool, credit);
    const std::vector<double> answer_advantage = group_advantage(answer_rewards(group), settings_.scale);
    const std::vector<double> score_advantage = group_advantage(score_rewards, settings_.scale);
    set_tokens(credit, &TokenCredit::advantage, group, is_answer, answer_advantage);
    set_tokens(credit, &TokenCredit::advantage, group, is_score, score_advantage);
    set_tokens(credit, &TokenCredit::kl, group, is_written, settings_.kl);
    weigh_both(credit, group);
    for (std::size_t i = 0; i < group.size(); ++i)
      credit.rollout_figures[i].update({{"preference_reward", score_rewards[i]},
                                        {"answer_advantage", answer_advantage[i]},
                                        {"score_advantage", score_advantage[i]}});
    credit.figures["valid_scores"] =
        std::count_if(group.begin(), group.end(), [](const CreditRollout& one) { return one.score.has_value(); });
    return finished(std::move(credit));
  }

  // The reward of each roll-out's score compared with those of the pool; may add figures.
  virtual std::vector<double> reward_scores(const CreditGroup& group, const ContrastPool& pool,
                                            GroupCredit& credit) const = 0;

  void weigh_both(GroupCredit& credit, const CreditGroup& group) const {
    const int responses = static_cast<int>(group.size());
    if (settings_.mean_of_response) return weigh(credit, group, is_written, LossMean::sequence, responses);
    weigh(credit, group, is_answer, LossMean::sequence, responses);
    weigh(credit, group, is_score, LossMean::sequence, responses);
  }

  DecoupledSettings settings_;
};

class Adpo : public Decoupled {
 public:
  using Decoupled::Decoupled;
  std::string_view name() const override { return "adpo"; }

 private:
  std::vector<double> reward_scores(const CreditGroup& group, const ContrastPool& pool,
                                    GroupCredit& credit) const override {
    std::vector<double> rewards;
    for (const PreferenceReward& preference : preference_rewards(group, pool, preference_)) {
      Json& figures = credit.rollout_figures[rewards.size()];
      figures["contrast"] = preference.contrast;
      if (!preference_.pairwise) figures["threshold"] = preference.threshold ? Json(*preference.threshold) : Json();
      rewards.push_back(preference.reward);
    }
    return rewards;
  }
};

// Eq. 5 with strict comparison on both sides: 1 if the score and the answer reward lie on the same side of their
// thresholds.
class AdpoBinary : public Decoupled {
 public:
  AdpoBinary(DecoupledSettings settings, double tau, double tau_answer)
      : Decoupled(settings), tau_(tau), tau_answer_(tau_answer) {}
  std::string_view name() const override { return "adpo_binary"; }

 private:
  std::vector<double> reward_scores(const CreditGroup& group, const ContrastPool&, GroupCredit&) const override {
    std::vector<double> rewards;
    for (const CreditRollout& own : group)
      rewards.push_back(own.score && (*own.score - tau_) * (own.answer_reward - tau_answer_) > 0);
    return rewards;
  }

  double tau_, tau_answer_;
};

}  // namespace

std::unique_ptr<CreditAssigner> make_adpo(CreditSettings& settings) {
  const DecoupledSettings decoupled = read_decoupled(settings);
  return std::make_unique<Adpo>(decoupled, read_preference(settings));
}

std::unique_ptr<CreditAssigner> make_adpo_binary(CreditSettings& settings) {
  const DecoupledSettings decoupled = read_decoupled(settings);
  const double tau = settings.number("tau", 0.5, 0, 1);
  return std::make_unique<AdpoBinary>(decoupled, tau, settings.number("tau_answer", 0.5));
}

}  // namespace agon::agents
