#include "core/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace agon {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr Seconds kBarInterval{0.1}, kLineInterval{5.0};
constexpr std::size_t kWithoutEnd = 1 << 20;  // columns of a line that is not limited

std::string format_duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string format_rate(double rate) { return rate < 100 ? fmt::format("{:.1f}", rate) : fmt::format("{:.0f}", rate); }

constexpr std::size_t kMostCells = 24, kLeastCells = 8;  // of a bar; a shorter one is useless
constexpr std::size_t kLeastLabel = 8;                   // characters; a shorter one is useless

std::string bar(double share, std::size_t cells) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells));
  return fmt::format("[{:#>{}}{:->{}}] ", "", full, "", cells - full);
}

// At most `most` bytes of a text, in whole UTF-8 characters; a cut text ends in dots.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most > 3 ? most - 3 : most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + (most > 3 ? "..." : "");
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

std::string bar_line(const ProgressParts& parts, std::size_t columns) {
  std::string figures = parts.count;
  const auto label_room = [&] { return columns < figures.size() + 2 ? 0 : columns - figures.size() - 2; };
  const std::size_t least_label = std::min(parts.label.size(), kLeastLabel);
  for (std::vector<std::string> more{parts.rate, parts.left}; !more.empty(); more.pop_back()) {
    figures = parts.count;
    for (const std::string& figure : more)
      if (!figure.empty()) figures += ", " + figure;
    if (label_room() >= least_label) break;
    figures = parts.count;
  }
  if (label_room() < least_label || parts.label.empty()) return cut(figures, columns);
  const std::string label = cut(parts.label, label_room()) + ": ";
  const std::size_t room = columns - std::min(columns, label.size() + figures.size());
  const std::size_t cells = std::min(kMostCells, room - std::min<std::size_t>(room, 3));
  const std::string drawn = parts.share && cells >= kLeastCells ? bar(*parts.share, cells) : "";
  const std::size_t note_room = room - drawn.size();
  const std::string note = parts.note.empty() || note_room < kLeastLabel ? "" : "  " + cut(parts.note, note_room - 2);
  return label + drawn + figures + note;
}

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
  ProgressParts parts;
  parts.label = label_;
  parts.note = note_;
  parts.count = total_ > 0 ? fmt::format("{}/{} {}", done_, total_, unit_) : fmt::format("{} {}", done_, unit_);
  if (rate > 0) parts.rate = fmt::format("{} {}/s", format_rate(rate), unit_);
  if (rate > 0 && total_ > done_) parts.left = format_duration(static_cast<double>(total_ - done_) / rate) + " left";
  if (last) parts.left = "took " + format_duration(elapsed);
  if (total_ > 0) parts.share = static_cast<double>(done_) / static_cast<double>(total_);
  if (terminal_) return write_stderr(fmt::format("\r{}\x1b[K", bar_line(parts, terminal_columns() - 1)));
  parts.share.reset();
  write_stderr(bar_line(parts, kWithoutEnd) + '\n');
}

}  // namespace agon
