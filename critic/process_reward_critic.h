// critic/process_reward_critic.h - a critic that asks a process reward model behind a server: one probability per step.
//
// Requests have the form of vLLM's /pooling (a model with step pooling), with the problem's text and the solution so
// far:
//   qwen      Qwen2.5-Math-PRM: the problem as user, the steps as assistant, "<extra_0>" behind each. A row of the
//             reply is [p(wrong), p(right)].
//   shepherd  Math-Shepherd: problem and steps as one text, " \u043a\u0438" behind each step, one a line. A row is
//             [p(+), p(-)].
#pragma once

#include <memory>
#include <string>

#include "critic/critic.h"
#include "net/retry.h"

namespace agon::critic {

enum class RewardForm { qwen, shepherd };
RewardForm parse_reward_form(const std::string& name);  // throws Error naming the nearest

struct ProcessRewardOptions {
  std::string url;    // of the server: "http://127.0.0.1:8000"
  std::string model;  // as the server calls it
  RewardForm form = RewardForm::qwen;
  double seconds = 60;  // an attempt at a request
  // Of a request: three attempts that time out, and a minute of waits.
  net::RetryOptions retries{.attempts = 3, .backoff_seconds = 0.5, .seconds = 240};
};

// P(correct) is the last row's; correct from 0.5 on. A reply with another number of rows than steps is an invalid
// verdict. judge() throws Error for a step with pictures, and for a server that does not answer, refuses, or answers
// something else; net/retry.h says what is tried again before that. The failure of one step ends the waits of the
// others.
std::unique_ptr<StepCritic> make_process_reward_critic(const ProcessRewardOptions& options);

}  // namespace agon::critic
