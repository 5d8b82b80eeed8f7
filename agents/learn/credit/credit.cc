#include "agents/learn/credit/credit.h"

#include <array>

#include "agents/learn/credit/methods.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::agents {
namespace {

struct Method {
  const char *name, *description;
  std::unique_ptr<CreditAssigner> (*make)(CreditSettings& settings);
};

constexpr std::array kMethods = {
    Method{"grpo", "reward minus the group's mean, divided by its standard deviation; one advantage per response",
           make_grpo},
    Method{"dr_grpo", "GRPO without the standard deviation, with one constant for every length", make_dr_grpo},
    Method{"rloo", "reward minus the mean of the other responses", make_rloo},
    Method{"dapo", "GRPO with a mean over tokens, a higher upper clip, dynamic sampling and a length penalty",
           make_dapo},
    Method{"grpo_verifier", "GRPO on the answer alone; the score serves at test time", make_grpo_verifier},
    Method{"adpo", "answer by its reward, score by its preference reward, each with its own advantage", make_adpo},
    Method{"adpo_binary", "ADPO with a score reward that compares with a threshold", make_adpo_binary},
    Method{"adpo_entangled", "answer and preference reward in one advantage for all tokens", make_adpo_entangled},
    Method{"adapo", "two turns: rewards by i->j and KL by the error rate of the first answers", make_adapo},
    Method{"score", "SCoRe, two turns: stage 1 for the second answer, stage 2 with a bonus for correcting", make_score},
    Method{"sft", "likelihood of the right roll-outs", make_sft},
    Method{"star", "likelihood of the second answers that correct a wrong first one", make_star},
    Method{"pdcr", "gain in confidence of each step, compared within the visual and within the textual steps",
           make_pdcr},
    Method{"pacr", "gain in confidence of each step, compared within all steps", make_pacr},
};

const Method& find_method(const std::string& name) {
  for (const Method& method : kMethods)
    if (name == method.name) return method;
  throw Error("{}", unknown_name_message("credit: method", name, credit_methods()));
}

}  // namespace

std::vector<GroupCredit> CreditAssigner::assign_batch(const std::vector<CreditGroup>& groups) const {
  std::vector<GroupCredit> credits;
  for (const CreditGroup& group : groups) credits.push_back(assign(group));
  return credits;
}

std::vector<std::string> credit_methods() {
  std::vector<std::string> names;
  for (const Method& method : kMethods) names.emplace_back(method.name);
  return names;
}

std::string credit_description(const std::string& method) { return find_method(method).description; }

Json credit_settings(const std::string& method, const Json& settings) {
  CreditSettings reader(method, settings);
  find_method(method).make(reader);
  reader.check_all_known();
  return reader.resolved();
}

std::unique_ptr<CreditAssigner> make_credit(const std::string& method, const Json& settings) {
  CreditSettings reader(method, settings);
  auto assigner = find_method(method).make(reader);
  reader.check_all_known();
  return assigner;
}

}  // namespace agon::agents
