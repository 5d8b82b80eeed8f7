// critic/message_json.h - writes and reads messages in the form that runs of critic/ record: texts as text_json writes
// them, pictures by hash.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/message.h"
#include "core/pictures/image.h"

namespace agon::critic {

// [{"text"}, {"image": hash} or {"video": core/pictures/video_json.h, with hashes}]; the pictures are added to
// `images`.
Json parts_json(const std::vector<Part>& parts, std::vector<Image>& images);
// [{"role", "parts"}]
Json messages_json(const std::vector<Message>& messages, std::vector<Image>& images);
// The inverse. image: returns the picture with a hash; what it throws passes through.
std::vector<Message> messages_in(const Json& list, const std::function<Image(const std::string& hash)>& image);

}  // namespace agon::critic
