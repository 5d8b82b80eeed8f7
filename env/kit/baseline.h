// env/kit/baseline.h - baselines: play a suite with tools in a single turn and without its tools, to measure how much
// the tools help. A question that the turn does not answer counts as wrong.
//   direct  the answer at once
//   cot     thoughts, then the answer
//   rag     as cot, with the results of a search for the question in the prompt
#pragma once

#include <string>

namespace agon::env {

enum class Baseline { none, direct, cot, rag };
Baseline baseline_from(const std::string& name);  // "": none; throws Error for an unknown name

// The system message; empty for Baseline::none.
std::string baseline_instructions(Baseline baseline);

}  // namespace agon::env
