// critic/process_reward_critic.h - a critic that asks a process reward model behind a server: one probability per step.
//
// Requests have the form of vLLM's /pooling (a model with step pooling), with the problem's text and the solution so
// far:
//   qwen      Qwen2.5-Math-PRM: the problem as user, the steps as assistant, "<extra_0>" after each. A row of the
//             reply is [p(wrong), p(right)]. Pictures go with the problem. agon's own server (serve/step_answer.h) is
//             told to judge the last step alone, and adds what the critic wrote.
//   shepherd  Math-Shepherd: problem and steps as one text, " \u043a\u0438" after each step, one per line. A row is
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
  std::string url;    // address of the server: "http://127.0.0.1:8000"
  std::string model;  // name of the model on the server
  RewardForm form = RewardForm::qwen;
  std::string key_env = {};  // environment variable that holds the server's key; empty: it wants none
  double seconds = 60;       // limit per attempt at a request
  // Per request: three attempts that time out, and a minute of waits.
  net::RetryOptions retries{.attempts = 3, .backoff_seconds = 0.5, .seconds = 240};
};

// P(correct) comes from the last row; correct from 0.5 on. If a reply has not one row per step, or the last is null,
// the verdict is invalid. judge() throws Error for pictures in Math-Shepherd's form, and for a server that does not
// answer, refuses, or sends another reply, after the retries of net/retry.h. If one step fails, the others stop
// waiting.
std::unique_ptr<StepCritic> make_process_reward_critic(const ProcessRewardOptions& options);

}  // namespace agon::critic
