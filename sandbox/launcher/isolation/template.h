// sandbox/launcher/isolation/template.h - the interpreter that sessions are forked from. It has imported all modules,
// has never started a thread, and has every restriction that its forks inherit.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/descriptor.h"
#include "sandbox/launcher/isolation/isolation.h"
#include "sandbox/launcher/session/guest_channel.h"

namespace agon::sandbox::launcher {

struct TemplateConfig {
  std::string interpreter = "/usr/bin/python3";
  std::vector<std::string> modules = {"numpy", "cv2"};
  int library = -1;  // descriptor of the library of sandbox/launcher/session/guest_library.h
};

struct Template {
  pid_t process = 0;
  GuestChannel channel;
  Descriptor questions;  // seccomp's listener
  Descriptor errors;     // its stderr, until it is ready
};

// Starts the template. It sends `h` on its channel when it is ready, or ends with the reason on `errors`. Throws
// std::system_error.
Template start_template(const TemplateConfig& config, const Walls& walls);

}  // namespace agon::sandbox::launcher
