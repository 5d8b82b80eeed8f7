#include "critic/critic.h"

#include <array>

namespace agon::critic {

std::string_view to_string(Judgement judgement) {
  constexpr std::array<std::string_view, 4> kNames = {"correct", "incorrect", "invalid", "unknown"};
  return kNames.at(static_cast<std::size_t>(judgement));
}

Verdict verdict_from(double probability) {
  return {probability >= 0.5 ? Judgement::correct : Judgement::incorrect, probability, {}, {}, 0};
}

}  // namespace agon::critic
