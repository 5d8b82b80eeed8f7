// cli/report/saved_pictures.h - saves pictures of untrusted code in a folder of the user, under safe names.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace agon::cli {

// The last part of `name` as a file's name: valid UTF-8 of at most 255 bytes, without control characters, and with no
// '-' or '.' at the front. The extension stays. "a/\x1b[2Jb.png" -> "_[2Jb.png".
std::string file_name_of(std::string_view name);

class SavedPictures {
 public:
  // Writes folder/file_name_of(name), makes the folder if need be, and returns the path. A picture saved under the same
  // `name` before is replaced; another name with the same file name gets a number: "a-2.png". Throws std::exception: no
  // space, no permission.
  std::string save(const std::filesystem::path& folder, const std::string& name, std::string_view bytes);

 private:
  std::map<std::filesystem::path, std::string> names_;  // path -> the name that the code gave
};

}  // namespace agon::cli
