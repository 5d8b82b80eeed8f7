// env/kit/baseline.h - plays a suite with tools without them, in one turn, to measure what the tools are worth. A
// question that the turn does not answer counts as wrong.
//   direct  the answer at once
//   cot     thoughts, then the answer
//   rag     as cot, with the results of a search for the question in the prompt
#pragma once

#include <string>

namespace agon::env {

enum class Baseline { none, direct, cot, rag };
Baseline baseline_from(const std::string& name);  // "": none; throws Error for another name

// The system message; empty for none.
std::string baseline_instructions(Baseline baseline);

}  // namespace agon::env
