// sandbox/call_request.h - what a session is to run.
#pragma once

#include <string>
#include <vector>

namespace agon::sandbox {

struct CallRequest {
  std::string code;
  std::string name = "<code>";         // what tracebacks call it
  std::vector<std::string> artifacts;  // files of the workspace to bring out, in the result
  bool pictures = false;   // also the pictures that are new since the last call that asked so, or since this one began
  bool show_bools = true;  // of last expressions: True and False are printed as other values are
  double wall = 0;         // seconds, where that is less than the session's limit; 0: the limit
};

}  // namespace agon::sandbox
