#include "core/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace agon {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr Seconds kBarInterval{0.1}, kLineInterval{5.0};

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_rate(double rate) { return rate < 100 ? fmt::format("{:.1f}", rate) : fmt::format("{:.0f}", rate); }

std::string bar(double share) {
  constexpr int kCells = 24;
  const int full = std::clamp(static_cast<int>(share * kCells), 0, kCells);
  return fmt::format("[{:#>{}}{:->{}}]", "", full, "", kCells - full);
}

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write_stderr(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Progress::Progress(std::string label, std::int64_t total, std::string unit, std::int64_t already,
                   std::chrono::seconds quiet)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      already_(already),
      done_(already),
      terminal_(isatty(STDERR_FILENO) != 0),
      quiet_(quiet),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_) {}

Progress::~Progress() {
  const std::lock_guard lock(mutex_);
  draw(true);
}

void Progress::add(std::int64_t done, const std::string& note) {
  const std::lock_guard lock(mutex_);
  done_ += done;
  if (!note.empty()) note_ = note;
  if (std::chrono::steady_clock::now() - drawn_ >= (terminal_ ? kBarInterval : kLineInterval)) draw(false);
}

void Progress::draw(bool last) {
  if (std::chrono::steady_clock::now() - start_ < quiet_) return;
  if (last && terminal_) return write_stderr("\r\x1b[K");
  drawn_ = std::chrono::steady_clock::now();
  const double elapsed = Seconds(drawn_ - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done_ - already_) / elapsed : 0;
  std::string line = label_ + ": ";
  if (terminal_ && total_ > 0) line += bar(static_cast<double>(done_) / static_cast<double>(total_)) + ' ';
  line += total_ > 0 ? fmt::format("{}/{} {}", done_, total_, unit_) : fmt::format("{} {}", done_, unit_);
  if (rate > 0) line += fmt::format(", {} {}/s", format_rate(rate), unit_);
  if (last) line += ", took " + format_duration(elapsed);
  if (!last && rate > 0 && total_ > done_)
    line += fmt::format(", {} left", format_duration(static_cast<double>(total_ - done_) / rate));
  if (!note_.empty()) line += "  " + note_;
  write_stderr(terminal_ ? fmt::format("\r{}\x1b[K", line.substr(0, terminal_columns() - 1)) : line + '\n');
}

}  // namespace agon
