// critic/message_json.h - writes and reads messages as the runs of critic/ record them: texts as by text_json, pictures
// by hash.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/image.h"
#include "core/json.h"
#include "core/message.h"

namespace agon::critic {

// [{"role", "parts": [{"text"} or {"image": hash}]}]; the pictures are added to `images`.
Json messages_json(const std::vector<Message>& messages, std::vector<Image>& images);
// Back; image: a picture by its hash. Throws what that throws.
std::vector<Message> messages_in(const Json& list, const std::function<Image(const std::string& hash)>& image);

}  // namespace agon::critic
