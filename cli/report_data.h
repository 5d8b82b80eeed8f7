// cli/report_data.h - what a report shows, as JSON: the figures of a run and its first episodes with their pictures.
#pragma once

#include <string>

#include "core/json.h"
#include "env/episode_store.h"

namespace agon::cli {

// Which episodes are in the page; the figures are always of all.
struct ReportLimits {
  std::size_t tasks = 200;          // the first ones
  int samples = 4;                  // of each, beside the greedy one
  std::size_t bytes = 24ull << 20;  // of pictures and text: past it no further task is taken
};

// {title, config, complete, summary, levels, kinds, roc, reliability, ece, episodes_total, embedded_tasks,
// embedded_samples, tasks {index: ...}, episodes [...], images {hash: [width, height, base64 PNG]}}; read by
// cli/report/report.js. Boxes and points are in thousandths of the picture's sides.
Json report_data(const env::RunReader& run, const std::string& title, const ReportLimits& limits = {});

}  // namespace agon::cli
