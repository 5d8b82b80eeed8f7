// critic/message_json.h - converts messages to and from the JSON that runs of critic/ record: texts in the form of
// text_json (critic/search/journal.h), pictures by hash.
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
// The inverse of messages_json. image: returns the picture with the given hash; its exceptions pass through.
std::vector<Message> messages_in(const Json& list, const std::function<Image(const std::string& hash)>& image);

}  // namespace agon::critic
