// agents/learn/credit/otsu.h - Otsu's threshold (1979) over a handful of numbers.
#pragma once

#include <optional>
#include <span>

namespace agon::agents {

enum class OtsuThreshold { midpoint, literal };
// The numbers v_1 <= .. <= v_n are split after the k that minimises the sum of squares around both parts' means (the
// first such k). midpoint: (v_k + v_{k+1}) / 2; literal: v_k, the printed rule "c* = v_k" of PDCR's Eq. 9, with which
// v_k itself is not below the threshold. Nothing for fewer than two numbers, and if all are equal.
std::optional<double> otsu_threshold(std::span<const double> values, OtsuThreshold kind);

}  // namespace agon::agents
