#include "core/pictures/video_json.h"

#include <utility>

#include "core/error.h"

namespace agon {

Json video_json(const Video& video, const std::function<std::string(const Image&)>& name_of) {
  Json frames = Json::array();
  for (const Image& frame : video.frames) frames.push_back(name_of(frame));
  Json json{{"frames", std::move(frames)},
            {"places", video.places},
            {"source_frames", video.source_frames},
            {"fps", video.fps}};
  if (video.is_chosen && video.has_all()) json["chosen"] = true;
  return json;
}

std::shared_ptr<const Video> video_in(const Json& json, const std::function<Image(const std::string&)>& picture) {
  std::vector<std::string> names;
  Video video;
  try {
    json.at("frames").get_to(names);
    json.at("places").get_to(video.places);
    json.at("source_frames").get_to(video.source_frames);
    json.at("fps").get_to(video.fps);
    video.is_chosen = json.contains("chosen") && json.at("chosen").get<bool>();
  } catch (const Json::exception&) {
    throw Error("video: {} is not {{frames, places, source_frames, fps}}.", to_text(json).substr(0, 200));
  }
  for (const std::string& name : names) video.frames.push_back(picture(name));
  return make_video(std::move(video));
}

}  // namespace agon
