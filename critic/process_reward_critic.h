// critic/process_reward_critic.h - a critic that asks a process reward model on a server for one probability per step.
//
// Requests have the form of vLLM's /pooling (a model with step pooling), with the problem's text and the solution so
// far:
//   qwen      Qwen2.5-Math-PRM: the problem as user, the steps as assistant, "<extra_0>" after each step. A row of the
//             reply is [p(wrong), p(right)]. Pictures are sent with the problem. The request asks agon's own server
//             (serve/step_answer.h) to judge only the last step; that server also returns the critique.
//   shepherd  Math-Shepherd: problem and steps as one text, one step per line, each followed by " \u043a\u0438". A row
//             is [p(+), p(-)].
#pragma once

#include <memory>
#include <string>

#include "critic/critic.h"
#include "net/retry.h"

namespace agon::critic {

enum class RewardForm { qwen, shepherd };
RewardForm parse_reward_form(const std::string& name);  // throws Error naming the nearest

struct ProcessRewardOptions {
  std::string url;    // address of the server: "http://127.0.0.1:8000"
  std::string model;  // name of the model on the server
  RewardForm form = RewardForm::qwen;
  std::string key_env = {};  // environment variable that holds the server's key; empty: it needs none
  double seconds = 60;       // limit per attempt at a request
  // Per request: time for three attempts that time out, and a minute of waits.
  net::RetryOptions retries{.attempts = 3, .backoff_seconds = 0.5, .seconds = 240};
};

// P(correct) comes from the last row; correct from 0.5 on. The verdict is invalid if a reply does not have one row per
// step, or if its last row is null. judge() throws Error for pictures in Math-Shepherd's form, and (after the retries
// of net/retry.h) for a server that does not answer, refuses, or sends a reply of another form. If the request for one
// step fails, the other requests stop waiting.
std::unique_ptr<StepCritic> make_process_reward_critic(const ProcessRewardOptions& options);

}  // namespace agon::critic
