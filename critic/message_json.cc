#include "critic/message_json.h"

#include "core/error.h"
#include "core/pictures/video_json.h"
#include "critic/search/journal.h"

namespace agon::critic {
namespace {

Role role_named(const std::string& name) {
  for (const Role role : {Role::system, Role::user, Role::assistant, Role::tool})
    if (to_string(role) == name) return role;
  throw Error("messages: no role '{}'.", name);
}

using Pictures = std::function<Image(const std::string& hash)>;

Part part_in(const Json& json, const Pictures& image) {
  if (json.contains("image")) return Part::of(image(json.at("image")));
  if (json.contains("video")) return Part::of(video_in(json.at("video"), image));
  return Part::of(text_of(json.at("text")));
}

}  // namespace

Json parts_json(const std::vector<Part>& parts, std::vector<Image>& images) {
  const auto name_of = [&](const Image& image) {
    images.push_back(image);
    return image.hash().hex();
  };
  Json list = Json::array();
  for (const Part& part : parts)
    list.push_back(part.is_image()   ? Json{{"image", name_of(part.image)}}
                   : part.is_video() ? Json{{"video", video_json(*part.video, name_of)}}
                                     : Json{{"text", text_json(part.text)}});
  return list;
}

Json messages_json(const std::vector<Message>& messages, std::vector<Image>& images) {
  Json list = Json::array();
  for (const Message& message : messages)
    list.push_back({{"role", to_string(message.role)}, {"parts", parts_json(message.parts, images)}});
  return list;
}

std::vector<Message> messages_in(const Json& list, const Pictures& image) {
  std::vector<Message> messages;
  for (const Json& json : list) {
    Message& message = messages.emplace_back();
    message.role = role_named(json.at("role"));
    for (const Json& part : json.at("parts")) message.parts.push_back(part_in(part, image));
  }
  return messages;
}

}  // namespace agon::critic
