// agents/learn/loop/probes.h - the measurements of PDCR (arXiv 2605.13467, Algorithm 1) for every step of a group's
// responses: how sure the policy is of the gold answer after the step, and how much the step's words depend on the
// picture. All probes of a group (agents/learn/loop/probe_group.h) are one forward pass: the prompt and each response
// are read once, and the answers branch off the responses' steps. The changed pictures are a second prompt with the
// same responses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/learn/loop/probe_group.h"
#include "agents/learn/network/transformer_network.h"

namespace agon::agents {

struct StepProbes {
  // c_0 .. c_K: sum of log pi(answer | prompt, response up to step k, suffix).
  std::vector<double> confidence;
  // V_1 .. V_K: log pi(h_k | pictures, prompt, h_<k) - log pi(h_k | changed pictures, prompt, h_<k), sums over the
  // step's tokens; 0 without a picture, empty if the group has no changed pictures.
  std::vector<double> visual;
};

// By group and roll-out, without gradient, under softmax(logits / temperature). Groups are read together up to
// rows_per_pass tokens. Throws Error for an empty answer, for steps that are not in order inside the response, and for
// changed pictures that do not fit.
std::vector<std::vector<StepProbes>> probe_steps(TransformerNetwork& model, std::span<const ProbeGroup> groups,
                                                 double temperature = 1, std::int64_t rows_per_pass = 16384);

// Converts the sums of probe_steps to means over the tokens of the answer and of the steps.
void take_token_means(const ProbeGroup& group, std::vector<StepProbes>& probes);

}  // namespace agon::agents
