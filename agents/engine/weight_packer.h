// agents/engine/weight_packer.h - packs weights in the background while passes already compute with the file's rows, so
// that the first token need not wait. Packing does not change the bits of any product.
#pragma once

#include <thread>

#include "agents/engine/weights.h"

namespace agon::agents {

// Owns a thread of the lowest priority. It ends after the last weight, or early if this object is destroyed or memory
// runs out; products then keep reading the file's rows. The weights must outlive it, and have no other packer.
class WeightPacker {
 public:
  explicit WeightPacker(const EngineWeights& weights);
  // Waits until packing has ended. Any thread may call it, but only one at a time.
  void wait();

 private:
  std::jthread thread_;
};

}  // namespace agon::agents
