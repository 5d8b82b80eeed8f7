#include "tools/search/index_progress.h"

#include <chrono>
#include <memory>
#include <optional>

#include "core/progress.h"

namespace agon::tools {
namespace {

using Clock = std::chrono::steady_clock;

class BuildProgress {
 public:
  explicit BuildProgress(const std::string& label) : label_(label) {}

  void tell(const std::string& unit, std::int64_t done, std::int64_t total) {
    if (Clock::now() - start_ < kMostlyShort) return;
    if (unit != unit_) {
      bar_.emplace(label_, total, unit, done);
      unit_ = unit;
      shown_ = done;
    }
    bar_->add(done - shown_);
    shown_ = done;
  }

 private:
  const std::string label_;
  const Clock::time_point start_ = Clock::now();
  std::optional<Progress> bar_;
  std::string unit_;
  std::int64_t shown_ = 0;
};

}  // namespace

IndexProgress show_progress(const std::string& label) {
  return [progress = std::make_shared<BuildProgress>(label)](const std::string& unit, std::int64_t done,
                                                             std::int64_t total) { progress->tell(unit, done, total); };
}

}  // namespace agon::tools
