// env/kit/baseline.h - a suite with tools played without them, in one turn: what the tools are worth is the
// difference. What the turn does not answer is wrong.
//   direct  the answer at once
//   cot     thoughts, then the answer
//   rag     the same, with what a search for the question finds in the prompt
#pragma once

#include <string>

namespace agon::env {

enum class Baseline { none, direct, cot, rag };
Baseline baseline_from(const std::string& name);  // "": none; throws Error for another name

// The system message; empty for none.
std::string baseline_instructions(Baseline baseline);

}  // namespace agon::env
