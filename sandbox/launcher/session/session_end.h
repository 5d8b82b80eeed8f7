// sandbox/launcher/session/session_end.h - the reason why a session has ended or has to end.
#pragma once

#include <string>

#include "sandbox/result.h"

namespace agon::sandbox::launcher {

struct SessionEnd {
  Reason reason = Reason::sandbox_lost;
  std::string text;
};

}  // namespace agon::sandbox::launcher
