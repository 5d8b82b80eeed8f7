// cli/report/data.h - the data of a report, as JSON: the figures of a run or the curves of a training run, and episodes
// with their pictures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/search_config.h"
#include "core/json.h"
#include "record/run_reader.h"

namespace agon::cli {

// Another search of the same tasks, drawn next to the report's own.
struct OtherRun {
  std::string title;
  const record::RunReader* run;
};

// Limits of the episodes in the page; figures and curves always cover all episodes.
struct ReportLimits {
  std::size_t tasks = 200;          // of a run: the first tasks,
  int samples = 4;                  // the first samples of each, in addition to the greedy one
  std::size_t train_steps = 12;     // of a training run: steps spread over it,
  std::size_t train_groups = 4;     // whole groups of each
  std::size_t bytes = 24ull << 20;  // of pictures and text: above it no further task is added
};

// Read by cli/report/*.js. Of every run: {title, config, complete, episodes_total, tasks {index: ...}, episodes [...],
// images {hash: [width, height, base64 PNG]}}; boxes and points are in thousandths of the picture's sides.
// Of a run without metrics: {summary, levels, kinds, roc, reliability, ece, embedded_tasks, embedded_samples}.
// Of a training run: {training {last_step, seconds, curves}}; log: the name of the file that the curves come from, if
// there is no run. Of self-play: {self_play (cli/report/self_play.h)}, and neither tasks nor episodes. Of a search:
// {search (cli/report/search.h), roc, reliability, ece: of the critic's P(correct)}; moved: where its inputs are now.
Json report_data(const record::RunReader& run, const std::string& title, const ReportLimits& limits = {},
                 const std::vector<OtherRun>& others = {}, const MovedInputs& moved = {});

// The same for a folder with only a training log (RunKind::training_log): curves and no episodes. Throws Error for a
// damaged log (cli/report/training.h).
Json training_log_data(const std::filesystem::path& folder, const std::string& title);

}  // namespace agon::cli
