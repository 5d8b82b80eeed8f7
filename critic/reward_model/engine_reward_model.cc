#include "critic/reward_model/engine_reward_model.h"

#include <algorithm>
#include <cmath>

#include "agents/engine/engine.h"
#include "agents/learn/network/reward_network.h"
#include "core/error.h"

namespace agon::critic {
namespace {

using agents::ResponseLayout;

// The texts of a set that the model reads, and the place of each response's text among them. Joint models read all
// responses, since they see how many say the same; apart models read each text once.
struct ResponsesToRead {
  std::vector<std::string> texts;
  std::vector<std::size_t> places;
};

ResponsesToRead to_read(const std::vector<std::string>& responses, bool joint) {
  ResponsesToRead found;
  for (const std::string& response : responses) {
    const auto place = (joint ? found.texts.end() : std::ranges::find(found.texts, response)) - found.texts.begin();
    found.places.push_back(static_cast<std::size_t>(place));
    if (place == std::ssize(found.texts)) found.texts.push_back(response);
  }
  return found;
}

class EngineRewardModel final : public RewardModel {
 public:
  EngineRewardModel(const std::filesystem::path& folder, int threads)
      : folder_(folder),
        network_(folder),
        engine_(network_.engine_weights(), network_.folder().config, network_.folder().tokenizer, {.threads = threads}),
        slope_(note("slope", 1)),
        offset_(note("offset", 0)) {}

  std::vector<std::vector<double>> score(std::span<const Candidates> sets) override {
    std::vector<ResponsesToRead> read;
    std::vector<ResponseLayout> layouts;
    std::vector<agents::ScoringRequest> requests;
    for (const Candidates& candidates : sets) {
      read.push_back(to_read(candidates.responses, joint()));
      const agents::ResponseSet set = encoded(candidates, read.back());
      layouts.push_back(network_.lay_out(set));
      for (const auto& ids : layouts.back().sequences) requests.push_back({set.prompt, ids});
    }
    const std::vector<std::vector<float>> states = engine_.states(std::move(requests));
    std::vector<std::vector<double>> scores;
    auto next = states.begin();
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      const auto end = next + std::ssize(layouts[i].sequences);
      scores.push_back(put_back(network_.scores_of({next, end}, layouts[i]), read[i]));
      next = end;
    }
    return scores;
  }

  bool fits(const Candidates& set) const override {
    return network_.fits(set.messages, to_read(set.responses, joint()).texts);
  }
  void require(const Candidates& set) const override { encoded(set, to_read(set.responses, joint())); }
  std::int64_t tokens(const Candidates& set) const override {
    const agents::ResponseSet read = encoded(set, to_read(set.responses, joint()));
    std::int64_t count = std::ssize(read.prompt.ids);
    for (const std::vector<std::int32_t>& response : read.responses) count += std::ssize(response);
    return count;
  }
  double probability(double score) const override { return 1 / (1 + std::exp(-(slope_ * score + offset_))); }
  bool joint() const override { return network_.settings().joint; }
  const Json& notes() const override { return network_.notes(); }

 private:
  // Encodes the texts. An error counts all candidates of the set, including equal ones.
  agents::ResponseSet encoded(const Candidates& candidates, const ResponsesToRead& read) const {
    try {
      return network_.encode(candidates.messages, read.texts);
    } catch (const Error&) {
      network_.encode(candidates.messages, candidates.responses);
      throw;
    }
  }

  double note(const char* key, double otherwise) const {
    const Json& notes = network_.notes();
    if (!notes.is_object() || !notes.contains(key)) return otherwise;
    if (!notes.at(key).is_number())
      throw Error("{}: '{}' of its notes must be a number, got {}.", (folder_ / agents::kRewardModelFile).string(), key,
                  notes.at(key).dump().substr(0, 80));
    return notes.at(key).get<double>();
  }

  // A score for every response.
  std::vector<double> put_back(const std::vector<double>& scores, const ResponsesToRead& read) const {
    std::vector<double> all;
    for (const std::size_t place : read.places) {
      all.push_back(scores[place]);
      if (!std::isfinite(all.back()))
        throw Error("reward model: {} gives a score of {}: its weights are damaged. Train it again.", folder_.string(),
                    all.back());
    }
    return all;
  }

  const std::filesystem::path folder_;
  agents::RewardNetwork network_;
  agents::Engine engine_;
  double slope_, offset_;
};

}  // namespace

std::unique_ptr<RewardModel> open_reward_model(const std::filesystem::path& folder, int threads) {
  return std::make_unique<EngineRewardModel>(folder, threads);
}

}  // namespace agon::critic
