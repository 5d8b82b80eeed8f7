#include "sandbox/result.h"

#include <fmt/ranges.h>

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
  throw Error("sandbox: there is no {} '{}'. There are: {}", what, name, fmt::join(names, ", "));
}

}  // namespace

std::string_view to_string(Reason reason) { return kReasons.at(static_cast<std::size_t>(reason)); }
Reason reason_from(std::string_view name) { return static_cast<Reason>(find(kReasons, name, "reason")); }
std::string_view to_string(Tier tier) { return kTiers.at(static_cast<std::size_t>(tier)); }
Tier tier_from(std::string_view name) { return static_cast<Tier>(find(kTiers, name, "tier")); }

Result result_from_json(const Json& json) try {
  Result result;
  result.reason = reason_from(json.at("reason").get<std::string>());
  result.tier = tier_from(json.at("tier").get<std::string>());
  result.text = json.at("text");
  result.out = json.at("stdout");
  result.err = json.at("stderr");
  result.dropped_bytes = json.at("dropped_bytes");
  result.wall_s = json.at("seconds");
  result.cpu_s = json.at("cpu_seconds");
  result.peak_memory = json.at("peak_memory_bytes");
  result.alive = json.at("alive");
  result.ran = json.at("ran");
  result.pictures_left = json.at("images_left");
  for (const Json& artifact : json.at("artifacts")) {
    const Json::binary_t& bytes = artifact.at("bytes").get_binary();
    result.artifacts.push_back({artifact.at("name"), {bytes.begin(), bytes.end()}});
  }
  return result;
} catch (const Json::exception& error) {
  throw Error("sandbox: the launcher sent an invalid answer: {}", error.what());
}

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
          {"seconds", result.wall_s},
          {"cpu_seconds", result.cpu_s},
          {"peak_memory_bytes", result.peak_memory},
          {"alive", result.alive},
          {"ran", result.ran},
          {"images_left", result.pictures_left},
          {"images", images}};
}

}  // namespace agon::sandbox
