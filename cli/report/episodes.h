// cli/report/episodes.h - the episodes in a report's page, as JSON, with every picture stored once.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "core/json.h"
#include "record/run_reader.h"

namespace agon::cli {

class ReportEpisodes {
 public:
  void add(const record::Episode& episode);
  std::string add_image(const Image& image);                            // returns its hash
  Json shown(const std::vector<Part>& parts);                           // a video as its frames, after a line of text
  void add_images(const record::RunReader& run, const Json& messages);  // the images of messages in a journal's form
  bool has_task(const record::Episode& episode) const { return tasks_.contains(std::to_string(episode.task_index)); }
  std::size_t tasks() const { return tasks_.size(); }
  std::size_t bytes() const { return bytes_; }  // approximate size of pictures, text and tokens
  // Adds {tasks {index: ...}, episodes [...], images {hash: [width, height, base64 PNG]}} to `data`.
  void move_into(Json& data);

 private:
  Json turn_of(const record::Turn& turn, bool answer_is_box);

  std::size_t bytes_ = 0;
  Json tasks_ = Json::object(), episodes_ = Json::array();
  std::map<std::string, Json> images_;
};

}  // namespace agon::cli
