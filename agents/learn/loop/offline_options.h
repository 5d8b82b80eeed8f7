// agents/learn/loop/offline_options.h - the settings and figures of agents/learn/loop/offline_loss.h, without its
// tensors.
#pragma once

namespace agon::agents {

struct OfflineLossOptions {
  double clip = 0.2;               // c
  double kl = 0;                   // beta, of k3 (agents/learn/loop/policy_loss.h)
  double imitation_weight = 0.15;  // s
};

struct OfflineLossFigures {
  double loss = 0;
  double ratio = 0, clipped = 0, kl = 0;  // means over the played responses; 0 without any
  double imitation = 0;                   // mean negative log-probability of the imitated ones; 0 without any
};

}  // namespace agon::agents
