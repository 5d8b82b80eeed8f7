#include "agents/engine/weight_packer.h"

#include <sys/resource.h>

#include "agents/hub/mapped_file.h"

namespace agon::agents {
namespace {

// Packs the views of a linear, and lets go of the pages of the file that they lie in.
void pack_views(const TypedLinear& linear, const std::stop_token& stop) {
  for (const LinearPart& part : linear.parts) {
    const auto* const view = std::get_if<kernels::BfloatLinear>(&part);
    if (!view || !view->rows || stop.stop_requested()) continue;
    kernels::pack_view(*view, stop);
    release_pages({view->rows, bytes_of(*view) - view->bias.size() * sizeof(float)});
  }
}

}  // namespace

WeightPacker::WeightPacker(const EngineWeights& weights) {
  if (weights.files.empty()) return;
  thread_ = std::jthread([&weights](const std::stop_token& stop) {
    ::setpriority(PRIO_PROCESS, 0, 19);  // of this thread alone
    for_each_product(weights, [&](const TypedLinear& linear) { pack_views(linear, stop); });
  });
}

void WeightPacker::wait() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace agon::agents
