// cli/credit_group.h - a group of roll-outs and its credit as JSON: what `agon credit` reads and writes
// (docs/credit.md).
#pragma once

#include <string>

#include "agents/learn/credit/credit.h"
#include "core/json.h"

namespace agon::cli {

// Takes {"rollouts": [...]} or the array alone. Throws Error naming the source, the roll-out (from 0) and the key.
agents::CreditGroup parse_credit_group(const std::string& text, const std::string& source);

// {"method", "settings", "filtered", "mass", figures of the group, "rollouts": [{figures, "advantage", "kl",
// "weight"}]}
Json credit_json(const agents::CreditAssigner& assigner, const Json& settings, const agents::GroupCredit& credit);

// The same for a terminal: a line for the group, one per roll-out, and one per run of tokens with the same three
// numbers.
std::string credit_text(const Json& credit);

// JSON for reading: an array or object without nested ones is one line.
std::string readable(const Json& json);

}  // namespace agon::cli
