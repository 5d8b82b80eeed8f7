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

// The JSON that cli/report/*.js reads. Every run has {title, config, complete, episodes_total, tasks {index: ...},
// episodes [...], images {hash: [width, height, base64 PNG]}}; boxes and points are in thousandths of the picture's
// sides. A run without metrics adds {summary, levels, kinds, roc, reliability, ece, embedded_tasks, embedded_samples}.
// A training run adds {training {last_step, seconds, curves}}, with the name of a `log` that holds the curves if there
// is no run. Self-play adds {self_play (cli/report/self_play.h)} and has no tasks or episodes. A search adds {search
// (cli/report/search.h)} and roc, reliability and ece of the critic's P(correct). moved: new paths of its inputs.
Json report_data(const record::RunReader& run, const std::string& title, const ReportLimits& limits = {},
                 const std::vector<OtherRun>& others = {}, const MovedInputs& moved = {});

// The same for a folder with only a training log (RunKind::training_log): curves and no episodes. Throws Error for a
// damaged log (cli/report/training.h).
Json training_log_data(const std::filesystem::path& folder, const std::string& title);

}  // namespace agon::cli
