#include "agents/local/json_file.h"

#include "core/error.h"
#include "core/text.h"

namespace agon::agents {

Json read_json_file(const std::filesystem::path& path) {
  try {
    return Json::parse(read_file(path.string()));
  } catch (const Json::exception& error) {
    throw Error("{}: not JSON ({}). Is the download complete?", path.string(), error.what());
  }
}

}  // namespace agon::agents
