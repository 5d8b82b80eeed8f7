#include "serve/step_answer.h"

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "serve/chat_answer.h"
#include "serve/scored_sets.h"

namespace agon::serve {
namespace {

constexpr const char* kStepMark = "<extra_0>";
constexpr std::size_t kMostSteps = 1024;
constexpr std::size_t kMostPrefixBytes = 16 << 20;
constexpr std::size_t kStepsTogether = 8;  // steps per call of a critic; cancelled work stops between calls

struct Solution {
  std::vector<Message> messages;   // before it
  std::vector<std::string> steps;  // at least one
  bool last_only = false;          // judge the last step alone
  std::size_t first() const { return last_only ? steps.size() - 1 : 0; }
};

Solution read_solution(const SortedJson& body, const PictureLimits& limits) {
  const RequestFields fields(body);
  if (!fields.has("messages"))
    throw refused("messages",
                  fmt::format("'messages' is missing: a problem, and a solution with {} behind each step.", kStepMark));
  Solution solution{read_messages(fields, limits), {}, fields.flag("last_step_only", false)};
  const Message last = std::move(solution.messages.back());
  solution.messages.pop_back();
  const std::string text = last.text();
  std::vector<std::string> parts = split(text, kStepMark);
  if (last.role != Role::assistant || solution.messages.empty() || parts.size() < 2)
    throw refused("messages", fmt::format("the last of several messages must be the assistant's, with {} behind each "
                                          "step.",
                                          kStepMark));
  parts.pop_back();  // the text after the last mark
  if (parts.size() > kMostSteps || text.size() > kMostTextBytes)
    throw refused("messages", fmt::format("the solution has {} steps and {} bytes; at most {} and {} are possible.",
                                          parts.size(), text.size(), kMostSteps, kMostTextBytes));
  for (const std::string& part : parts) solution.steps.emplace_back(trim(part));
  return solution;
}

// The solution up to each step, that step included.
std::vector<std::string> beginnings_of(const Solution& solution) {
  std::vector<std::string> beginnings;
  std::size_t bytes = 0;
  for (const std::string& step : solution.steps) {
    beginnings.push_back(beginnings.empty() ? step : beginnings.back() + "\n\n" + step);
    if ((bytes += beginnings.back().size()) > kMostPrefixBytes)
      throw refused("messages", fmt::format("the beginnings of the solution, one per step, have more than {} bytes.",
                                            kMostPrefixBytes));
  }
  return beginnings;
}

Json row_of(double right) { return {1 - right, right}; }
Json row_of(const critic::Verdict& verdict) {
  if (verdict.judgement == critic::Judgement::invalid) return nullptr;
  return row_of(verdict.probability.value_or(verdict.judgement == critic::Judgement::correct ? 1 : 0));
}

Json pooling_answer(const std::string& model, Json data, const TokenCounts& counts) {
  const AnswerHead head = new_head("pool-", model);
  data.update({{"index", 0}, {"object", "pooling"}});
  return {{"id", head.id},
          {"object", "list"},
          {"created", head.created},
          {"model", head.model},
          {"data", Json::array({std::move(data)})},
          {"usage", usage_json(counts)}};
}

}  // namespace

Json answer_pooling(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits,
                    const std::atomic<bool>& stop) {
  const Solution solution = read_solution(body, limits);
  const std::vector<std::string> beginnings = beginnings_of(solution);
  std::vector<critic::Candidates> sets;
  for (std::size_t i = solution.first(); i < beginnings.size(); ++i) {
    if (sets.empty() || served.model.joint()) sets.push_back({solution.messages, {}});
    sets.back().responses.push_back(beginnings[i]);
  }
  const ScoredSets done = scored_sets(served.model, sets, stop);
  Json rows = Json::array();
  for (std::size_t i = 0; i < solution.first(); ++i) rows.push_back(nullptr);
  for (const double score : done.scores) rows.push_back(row_of(served.model.probability(score)));
  return pooling_answer(served.name, {{"data", std::move(rows)}}, {.prompt = done.tokens});
}

Json answer_pooling(const SortedJson& body, const ServedCritic& served, const PictureLimits& limits,
                    const std::atomic<bool>& stop) {
  const Solution solution = read_solution(body, limits);
  const std::vector<std::string> beginnings = beginnings_of(solution);
  Json rows = Json::array(), critiques = Json::array();
  rows.get_ref<Json::array_t&>().resize(solution.first());
  critiques.get_ref<Json::array_t&>().resize(solution.first());
  TokenCounts counts;
  for (std::size_t first = solution.first(); first < solution.steps.size(); first += kStepsTogether) {
    if (stop) throw cancelled();
    std::vector<critic::StepInContext> steps;
    for (std::size_t i = first; i < std::min(first + kStepsTogether, solution.steps.size()); ++i)
      steps.push_back({solution.messages, i > 0 ? beginnings[i - 1] : "", solution.steps[i], nullptr});
    for (const critic::Verdict& verdict : served.critic.judge(steps)) {
      rows.push_back(row_of(verdict));
      critiques.push_back(verdict.critique);
      counts.completion += verdict.tokens;
    }
  }
  return pooling_answer(served.name, {{"data", std::move(rows)}, {"critiques", std::move(critiques)}}, counts);
}

}  // namespace agon::serve
