// agents/engine/weight_packer.h - packs weights that are views of a file's rows, behind the passes that compute with
// them: the first token need not wait for it. The bits of no product change.
#pragma once

#include <thread>

#include "agents/engine/weights.h"

namespace agon::agents {

// A thread of the lowest priority. It ends with the last weight, or early with this object or where memory runs out:
// the products then keep reading the rows. The weights must outlive it, and belong to no other packer.
class WeightPacker {
 public:
  explicit WeightPacker(const EngineWeights& weights);
  // Until all is packed. Any thread, but one at a time.
  void wait();

 private:
  std::jthread thread_;
};

}  // namespace agon::agents
