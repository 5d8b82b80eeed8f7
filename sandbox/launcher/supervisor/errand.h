// sandbox/launcher/supervisor/errand.h - runs slow work in a child process, so that the supervisor serves others
// meanwhile. The child ends with the supervisor, or when the Errand is dropped.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

class Errand {
 public:
  using Values = std::array<std::int64_t, 2>;
  struct Outcome {
    Values values{};                 // what the work gave back
    int error = 0;                   // errno of what it threw; 0: it was done
    std::string text;                // and what that said
    std::chrono::nanoseconds cpu{};  // that it took
  };

  Errand() = default;
  // work: runs in the child, which has the descriptors of `needed` and no others of ours. Throws std::system_error.
  static Errand start(const std::function<Values()>& work, const std::vector<int>& needed = {});
  Errand(Errand&& other) noexcept;
  Errand& operator=(Errand&& other) noexcept;
  ~Errand();  // kills the child; whoever waits for the supervisor's children reaps it

  bool is_out() const { return process_ != 0; }
  int descriptor() const { return reading_.get(); }  // polls as readable once it is done
  std::optional<Outcome> take();  // of one that is done, whose descriptor goes with it; nothing while it is at work

 private:
  pid_t process_ = 0;
  Descriptor reading_;
};

// In a fresh child: closes all descriptors but 0, 1, 2 and these.
void close_all_but(std::vector<int> needed);

}  // namespace agon::sandbox::launcher
