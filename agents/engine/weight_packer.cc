#include "agents/engine/weight_packer.h"

#include <sys/resource.h>

#include <new>

#include "agents/hub/mapped_file.h"

namespace agon::agents {
namespace {

// Packs a few MB at a time, and then releases the pages of the file that hold them.
void pack(const kernels::BfloatLinear& view, const std::stop_token& stop) {
  constexpr std::size_t kPiece = 4 << 20;
  const std::size_t row = static_cast<std::size_t>(view.inputs) * sizeof(std::uint16_t);
  for (int begin = 0; begin < view.outputs && !stop.stop_requested();) {
    const int end = kernels::pack_view(view, static_cast<int>(kPiece / row) + 1);
    const auto rows = static_cast<std::size_t>(end - begin);
    release_pages({view.rows + static_cast<std::size_t>(begin) * row, rows * row});
    begin = end;
  }
}

void pack_views(const TypedLinear& linear, const std::stop_token& stop) {
  for (const LinearPart& part : linear.parts)
    if (const auto* const view = std::get_if<kernels::BfloatLinear>(&part); view && view->rows) pack(*view, stop);
}

}  // namespace

WeightPacker::WeightPacker(const EngineWeights& weights) {
  if (weights.files.empty()) return;
  thread_ = std::jthread([&weights](const std::stop_token& stop) {
    ::setpriority(PRIO_PROCESS, 0, 19);  // on Linux: of this thread alone
    try {
      for_each_product(weights, [&](const TypedLinear& linear) { pack_views(linear, stop); });
    } catch (const std::bad_alloc&) {  // products keep reading the file's rows
    }
  });
}

void WeightPacker::wait() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace agon::agents
