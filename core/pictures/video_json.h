// core/pictures/video_json.h - a video as JSON: {"frames": [names], "places", "source_frames", "fps"}; its pictures are
// stored elsewhere under those names. "chosen": true says that all frames of its source were chosen.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/json.h"
#include "core/pictures/video.h"

namespace agon {

Json video_json(const Video& video, const std::function<std::string(const Image&)>& name_of);
// The inverse. Throws Error for JSON that is not a video; exceptions of `picture` pass through.
std::shared_ptr<const Video> video_in(const Json& json, const std::function<Image(const std::string& name)>& picture);

}  // namespace agon
