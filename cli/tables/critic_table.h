// cli/tables/critic_table.h - the table of `agon eval-critic`: a critic's figures, in total and by groups of steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "critic/metrics.h"

namespace agon::cli {

// {data, critic, figures, by_source, by_kind, by_level, by_position: {NAME: figures}, first_fault, and regret if there
// are several candidate steps to choose from, else first_error, if solutions are judged}; first_fault: the fault of the
// first invalid verdict; figures: {steps, right_steps, invalid_verdicts, unknown_verdicts, correct, error, average,
// harmonic_mean, accuracy, strict_harmonic_mean, strict_accuracy, auc, average_precision, brier, ece, adaptive_ece,
// reliability: [[mean P, share right, steps], ...]}; the total also has problems, and ci and n (core/estimate.h) over
// problems. Null: undefined.
Json critic_json(const std::string& data, const std::string& critic, const std::vector<critic::JudgedStep>& steps,
                 std::uint64_t seed);
// {rows, mean}; mean: the unweighted mean over rows of each figure and of the first error's f1 (as the subsets of
// ProcessBench are averaged); null for one row.
Json critic_report(Json rows);
std::string critic_table(const Json& report);

}  // namespace agon::cli
