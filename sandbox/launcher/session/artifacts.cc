#include "sandbox/launcher/session/artifacts.h"

#include <algorithm>
#include <cstddef>
#include <system_error>

namespace agon::sandbox::launcher {
namespace {

constexpr std::size_t kMostPictures = 16;
constexpr std::int64_t kMostCollected = 128 << 20;  // bytes of files that a call returns

// Empty if the guest has removed its workspace.
std::map<std::string, FileState> pictures_of(const Artifacts::Home& home) {
  try {
    return picture_files(home());
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace

void Artifacts::begin_call(const CallRequest& request, const Home& home) {
  if (!request.pictures)
    pictures_.reset();
  else if (!pictures_)
    pictures_ = pictures_of(home);
}

// Files that cannot be opened, or are too large with the others, are left out: what the code calls a picture may be
// anything. Returns the number of pictures that were left out.
std::int64_t Artifacts::collect(const CallRequest& request, std::int64_t most_of_file, const Home& home) {
  std::int64_t left = kMostCollected;
  const auto take = [&](const std::string& name) {
    try {
      files_.push_back(open_file(home(), name, std::min(most_of_file, left)));
      left -= files_.back().size;
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  };
  for (const std::string& name : request.artifacts) take(name);
  if (!request.pictures) return 0;
  const std::map<std::string, FileState> before = std::exchange(pictures_, pictures_of(home)).value();
  std::size_t taken = 0;
  std::int64_t left_out = 0;
  for (const auto& [name, state] : *pictures_) {
    const auto old = before.find(name);
    if (old != before.end() && old->second == state) continue;
    if (++taken > kMostPictures || !take(name)) ++left_out;
  }
  return left_out;
}

}  // namespace agon::sandbox::launcher
