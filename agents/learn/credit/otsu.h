// agents/learn/credit/otsu.h - Otsu's threshold (1979), which splits a few numbers into a low and a high part.
#pragma once

#include <optional>
#include <span>

namespace agon::agents {

enum class OtsuThreshold { midpoint, literal };
// The numbers v_1 <= .. <= v_n are split after the k that minimises the squared distances from the means of the two
// parts (the first such k). midpoint: (v_k + v_{k+1}) / 2; literal: v_k, the printed rule "c* = v_k" of PDCR's Eq. 9,
// with which v_k itself is not below the threshold. Returns nothing for fewer than two numbers or if all are equal.
std::optional<double> otsu_threshold(std::span<const double> values, OtsuThreshold kind);

}  // namespace agon::agents
