// agents/learn/credit/methods.h - the factories of the credit methods. Each reads exactly its own settings, with their
// defaults. docs/credit.md has the formulas and explains each setting.
#pragma once

#include <memory>

#include "agents/learn/credit/credit.h"
#include "agents/learn/credit/settings.h"

namespace agon::agents {

std::unique_ptr<CreditAssigner> make_grpo(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_grpo_verifier(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_dr_grpo(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_rloo(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_dapo(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_adpo(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_adpo_binary(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_adpo_entangled(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_adapo(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_score(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_sft(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_star(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_pdcr(CreditSettings& settings);
std::unique_ptr<CreditAssigner> make_pacr(CreditSettings& settings);

}  // namespace agon::agents
