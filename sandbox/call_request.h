// sandbox/call_request.h - a request to run code in a session.
#pragma once

#include <string>
#include <vector>

namespace agon::sandbox {

struct CallRequest {
  std::string code;
  std::string name = "<code>";         // what tracebacks call it
  std::vector<std::string> artifacts;  // files of the workspace to return in the result
  bool pictures = false;   // also return pictures that are new since the last such call, or since this one began
  bool show_bools = true;  // also print a last expression that is True or False
  double wall = 0;         // seconds, if less than the session's limit; 0: the limit
};

}  // namespace agon::sandbox
