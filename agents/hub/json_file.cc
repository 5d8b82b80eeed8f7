#include "agents/hub/json_file.h"

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {

Json read_json_file(const std::filesystem::path& path) {
  const std::string text = read_file(path.string());
  try {
    return json_of(text);
  } catch (const Error& error) {
    throw Error("{}: {}. Is the download complete?", path.string(), error.what());
  }
}

}  // namespace agon::agents
