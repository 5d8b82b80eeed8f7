#include "sandbox/backend.h"

#include <array>

#include "core/error.h"

namespace agon::sandbox {
namespace {

constexpr std::array<std::string_view, 4> kBackends = {"native", "bwrap", "docker", "podman"};

}  // namespace

std::string_view to_string(Backend backend) { return kBackends.at(static_cast<std::size_t>(backend)); }

Backend backend_from(std::string_view name) {
  for (std::size_t i = 0; i < kBackends.size(); ++i)
    if (kBackends[i] == name) return static_cast<Backend>(i);
  throw Error("sandbox: unknown backend '{}'. Use native, bwrap, docker or podman", name);
}

}  // namespace agon::sandbox
