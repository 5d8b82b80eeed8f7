// agents/learn/credit/otsu.h - Otsu's threshold (1979), which splits a few numbers into a low and a high part. PDCR
// uses it to split steps into visual and textual ones.
#pragma once

#include <optional>
#include <span>

namespace agon::agents {

enum class OtsuThreshold { midpoint, literal };
// The numbers v_1 <= .. <= v_n are split after the k that minimises the squared distances from the means of the two
// parts (the first such k). midpoint: (v_k + v_{k+1}) / 2. literal: v_k, as PDCR prints it (Eq. 9); v_k itself is then
// not below the threshold. Returns nothing for fewer than two numbers or if all are equal.
std::optional<double> otsu_threshold(std::span<const double> values, OtsuThreshold kind);

}  // namespace agon::agents
