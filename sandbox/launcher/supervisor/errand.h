// sandbox/launcher/supervisor/errand.h - runs slow work in a child process, so that the supervisor can serve other
// sessions meanwhile. The child ends with the supervisor, or when the Errand is destroyed.
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
    Values values{};                 // the value that the work returned
    int error = 0;                   // errno of the exception that it threw; 0: success
    std::string text;                // message of the exception
    std::chrono::nanoseconds cpu{};  // CPU time that it took
  };

  Errand() = default;
  // work: runs in the child, where only the descriptors of `needed`, 0, 1 and 2 stay open. Throws std::system_error.
  static Errand start(const std::function<Values()>& work, const std::vector<int>& needed = {});
  Errand(Errand&& other) noexcept;
  Errand& operator=(Errand&& other) noexcept;
  ~Errand();  // kills the child; whoever waits for the supervisor's children reaps it

  bool is_out() const { return process_ != 0; }
  int descriptor() const { return reading_.get(); }  // polls as readable once it is done
  std::optional<Outcome> take();  // the outcome, once; closes the descriptor; empty while it is at work

 private:
  pid_t process_ = 0;
  Descriptor reading_;
};

// In a new child: closes all descriptors except 0, 1, 2 and `needed`.
void close_all_but(std::vector<int> needed);

}  // namespace agon::sandbox::launcher
