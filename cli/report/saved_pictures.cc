#include "cli/report/saved_pictures.h"

#include <fmt/format.h>

#include "core/file.h"
#include "core/text.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 255;  // bytes, of most file systems
constexpr std::size_t kLongestExtension = 16;

// The name with `tag` before its extension, within the longest name.
std::string with_tag(const std::string& name, const std::string& tag) {
  const std::size_t dot = name.rfind('.');
  const bool has_extension = dot != name.npos && dot > 0 && name.size() - dot <= kLongestExtension;
  const std::string extension = has_extension ? name.substr(dot) : "";
  const std::string stem = name.substr(0, name.size() - extension.size());
  return std::string(cut_text(stem, kLongestName - tag.size() - extension.size())) + tag + extension;
}

}  // namespace

std::string file_name_of(std::string_view name) {
  const std::string last(name.substr(name.rfind('/') + 1));  // npos + 1 is 0
  std::string safe;
  for (const std::string& letter : characters(valid_utf8(last)))
    safe += printable_line(letter) == letter ? letter : "_";
  if (safe.empty() || safe == "." || safe == "..") return "picture";
  if (safe[0] == '-' || safe[0] == '.') safe[0] = '_';
  return with_tag(safe, "");
}

std::string SavedPictures::save(const fs::path& folder, const std::string& name, std::string_view bytes) {
  const std::string safe = file_name_of(name);
  fs::path path = folder / safe;
  for (int number = 2; names_.contains(path) && names_.at(path) != name; ++number)
    path = folder / with_tag(safe, fmt::format("-{}", number));
  fs::create_directories(folder);
  write_file_atomically(path, bytes);
  names_[path] = name;
  return path;
}

}  // namespace agon::cli
