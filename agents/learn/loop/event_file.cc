#include "agents/learn/loop/event_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/crc.hpp>
#include <charconv>
#include <cmath>

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "events.out.tfevents.";

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

template <typename Number>
void append_raw(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint32_t masked_crc(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;  // CRC-32C
  crc.process_bytes(bytes.data(), bytes.size());
  return std::rotr(static_cast<std::uint32_t>(crc.checksum()), 15) + 0xa282ead8u;
}

// ---- protobuf: a field is a key (number and wire type) and a value ----
void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

void append_integer(std::string& bytes, int field, std::uint64_t value) {
  append_varint(bytes, static_cast<std::uint64_t>(field << 3 | 0));
  append_varint(bytes, value);
}

void append_double(std::string& bytes, int field, double value) {
  append_varint(bytes, static_cast<std::uint64_t>(field << 3 | 1));
  append_raw(bytes, value);
}

void append_bytes(std::string& bytes, int field, std::string_view value) {
  append_varint(bytes, static_cast<std::uint64_t>(field << 3 | 2));
  append_varint(bytes, value.size());
  bytes += value;
}

void append_float(std::string& bytes, int field, float value) {
  append_varint(bytes, static_cast<std::uint64_t>(field << 3 | 5));
  append_raw(bytes, value);
}

// An `Event` with its time, and its step unless that is 0 (proto3 leaves zeros out).
std::string event_at(double wall_time, std::int64_t step) {
  std::string event;
  append_double(event, 1, wall_time);
  if (step != 0) append_integer(event, 2, static_cast<std::uint64_t>(step));
  return event;
}

std::string version_event(double wall_time) {
  std::string event = event_at(wall_time, 0);
  append_bytes(event, 3, "brain.Event:2");
  return event;
}

// SessionLog with status START: readers drop the values of earlier files from this step on.
std::string start_event(double wall_time, std::int64_t step) {
  std::string session, event = event_at(wall_time, step);
  append_integer(session, 1, 1);
  append_bytes(event, 7, session);
  return event;
}

std::string scalars_event(double wall_time, std::int64_t step, const record::Metrics& metrics) {
  std::string summary, event = event_at(wall_time, step);
  for (const auto& [name, number] : metrics) {
    std::string value;
    append_bytes(value, 1, name);
    append_float(value, 2, static_cast<float>(number));
    append_bytes(summary, 1, value);
  }
  append_bytes(event, 5, summary);
  return event;
}

// Largest second of ten digits; files with later seconds are not agon's.
constexpr std::int64_t kLastSecond = 9'999'999'999;

// A path that readers take last: they order a folder's files by name, which contains the second of creation.
fs::path next_path(const fs::path& folder, double wall_time) {
  auto second = static_cast<std::int64_t>(std::floor(wall_time));
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    std::int64_t other = 0;
    if (!name.starts_with(kPrefix)) continue;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), other);
    if (other < kLastSecond) second = std::max(second, other + 1);
  }
  return folder / fmt::format("{}{:010}.agon", kPrefix, second);
}

fs::path made(const fs::path& folder) {
  make_folders(folder);
  return folder;
}

}  // namespace

EventFile::EventFile(const fs::path& folder, double wall_time, std::int64_t first_step)
    : path_(next_path(made(folder), wall_time)), file_(path_) {
  write_record(version_event(wall_time));
  write_record(start_event(wall_time, first_step));
  flush();
}

void EventFile::add(std::int64_t step, double wall_time, const record::Metrics& metrics) {
  write_record(scalars_event(wall_time, step, metrics));
}

void EventFile::flush() { file_.sync(); }

void EventFile::write_record(std::string_view event) {
  std::string record;
  append_raw(record, static_cast<std::uint64_t>(event.size()));
  append_raw(record, masked_crc(record));
  record += event;
  append_raw(record, masked_crc(event));
  file_.add(record);
}

}  // namespace agon::agents
