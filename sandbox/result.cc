#include "sandbox/result.h"

#include <array>

#include "core/error.h"

namespace agon::sandbox {
namespace {

constexpr std::array<std::string_view, 11> kReasons = {
    "ok",         "exception",    "wall_timeout",     "cpu_limit",      "memory_limit", "process_limit",
    "disk_limit", "output_limit", "killed_by_signal", "protocol_error", "sandbox_lost"};
constexpr std::array<std::string_view, 3> kTiers = {"A", "B", "C"};

template <std::size_t N>
std::size_t find(const std::array<std::string_view, N>& names, std::string_view name, const char* what) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == name) return i;
  throw Error("sandbox: there is no {} '{}'", what, name);
}

}  // namespace

std::string_view to_string(Reason reason) { return kReasons.at(static_cast<std::size_t>(reason)); }
Reason reason_from(std::string_view name) { return static_cast<Reason>(find(kReasons, name, "reason")); }
std::string_view to_string(Tier tier) { return kTiers.at(static_cast<std::size_t>(tier)); }
Tier tier_from(std::string_view name) { return static_cast<Tier>(find(kTiers, name, "tier")); }

Json to_json(const Result& result) {
  Json images = Json::array();
  for (const Artifact& artifact : result.artifacts)
    images.push_back({{"name", artifact.name}, {"bytes", artifact.bytes.size()}});
  return {{"reason", to_string(result.reason)},
          {"tier", to_string(result.tier)},
          {"text", result.text},
          {"stdout", result.out},
          {"stderr", result.err},
          {"dropped_bytes", result.dropped_bytes},
          {"wall_s", result.wall_s},
          {"cpu_s", result.cpu_s},
          {"peak_memory", result.peak_memory},
          {"alive", result.alive},
          {"images", images}};
}

}  // namespace agon::sandbox
