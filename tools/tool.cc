#include "tools/tool.h"

namespace agon::tools {

std::string_view to_string(ToolFault fault) {
  switch (fault) {
    case ToolFault::bad_arguments:
      return "bad_arguments";
    case ToolFault::unknown_tool:
      return "unknown_tool";
    case ToolFault::timeout:
      return "timeout";
    case ToolFault::unavailable:
      return "unavailable";
    case ToolFault::failed:
      return "failed";
    case ToolFault::offline_miss:
      return "offline_miss";
    case ToolFault::budget:
      return "budget";
  }
  return "failed";
}

}  // namespace agon::tools
