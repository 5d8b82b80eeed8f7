#include "critic/reward_model/reward_model.h"

#include <map>
#include <string_view>

#include "critic/reward_model/engine_reward_model.h"

namespace agon::critic {
namespace {

class ModelReward final : public agents::ResponseScorer {
 public:
  explicit ModelReward(std::unique_ptr<RewardModel> model) : model_(std::move(model)) {}
  std::vector<double> score(const std::vector<Message>& messages, std::span<const std::string> responses) override {
    std::vector<Candidates> sets;
    for (const std::string& response : responses) add_response(*model_, sets, !sets.empty(), messages, response);
    std::vector<double> all;
    for (const std::vector<double>& scores : model_->score(sets)) all.insert(all.end(), scores.begin(), scores.end());
    return same_for_equals(responses, all);
  }

 private:
  // Equal responses get equal scores: the mean over them.
  static std::vector<double> same_for_equals(std::span<const std::string> responses,
                                             const std::vector<double>& scores) {
    std::map<std::string_view, std::pair<double, double>> sums;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      sums[responses[i]].first += scores[i];
      ++sums[responses[i]].second;
    }
    std::vector<double> means;
    for (const std::string& response : responses) means.push_back(sums.at(response).first / sums.at(response).second);
    return means;
  }

  const std::unique_ptr<RewardModel> model_;
};

}  // namespace

void add_response(const RewardModel& model, std::vector<Candidates>& sets, bool joins,
                  const std::vector<Message>& messages, const std::string& response) {
  if (joins) {
    sets.back().responses.push_back(response);
    if (model.fits(sets.back())) return;
    sets.back().responses.pop_back();
  }
  sets.push_back({messages, {response}});
}

std::unique_ptr<agents::ResponseScorer> open_response_scorer(const std::filesystem::path& folder, int threads) {
  return std::make_unique<ModelReward>(open_reward_model(folder, threads));
}

}  // namespace agon::critic
