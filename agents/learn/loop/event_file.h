// agents/learn/loop/event_file.h - writes metrics of a training run as TensorBoard event files: `tensorboard --logdir
// FOLDER` draws them. Format: TFRecord (little-endian length, masked CRC-32C of it, bytes, masked CRC-32C of those),
// each record a protobuf `Event`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/file.h"
#include "record/episode_store.h"

namespace agon::agents {

class EventFile {
 public:
  // Starts a new file in the folder, which is created if needed; TensorBoard reads it after the existing files, and
  // drops their values of `first_step` and later. first_step: where a resumed training continues; 0 for a fresh one.
  // wall_time: seconds since 1970. Throws Error when the file cannot be written.
  EventFile(const std::filesystem::path& folder, double wall_time, std::int64_t first_step);

  // Adds one event with a scalar for each metric, rounded to float. Throws Error when the disk is full.
  void add(std::int64_t step, double wall_time, const record::Metrics& metrics);
  void flush();  // syncs: earlier values then survive a crash of the machine; throws as add

  const std::filesystem::path& path() const { return path_; }

 private:
  void write_record(std::string_view event);

  std::filesystem::path path_;
  AppendedFile file_;
};

}  // namespace agon::agents
