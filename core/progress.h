// core/progress.h - progress of a long job on stderr: a bar with rate and remaining time on a terminal, a plain line
// every few seconds otherwise. Thread-safe. The destructor erases the bar.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace agon {

// How long a usually short job stays quiet: about the shortest wait that people notice.
inline constexpr std::chrono::seconds kMostlyShort{2};

// The parts of a progress bar; empty texts are left out.
struct ProgressParts {
  std::string label, count, rate, left, note;  // "run charts", "30/40 episodes", "12.3 episodes/s", "3 s left", "..."
  std::optional<double> share;                 // share of the work that is done; nothing: no bar
};
// One line of at most `columns` characters. If these are too few, parts are dropped in this order: the end of the note,
// the bar, the end of the label, the time left, the rate, the label. The count stays.
std::string bar_line(const ProgressParts& parts, std::size_t columns);

class Progress {
 public:
  // total: units of work (0 = unknown). label: name of the job. unit: plural noun for the rate ("episodes").
  // already: units that an earlier run has done; they count as done, but not in the rate. quiet: a job that ends within
  // this time shows nothing.
  Progress(std::string label, std::int64_t total, std::string unit, std::int64_t already = 0,
           std::chrono::seconds quiet = std::chrono::seconds(0));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void add(std::int64_t done, const std::string& note = {});  // note: a short text shown after the bar

 private:
  void draw(bool last);
  std::string label_, unit_, note_;
  std::int64_t total_, already_, done_;
  bool terminal_;
  std::chrono::seconds quiet_;
  std::chrono::steady_clock::time_point start_, drawn_;
  std::mutex mutex_;
};

}  // namespace agon
