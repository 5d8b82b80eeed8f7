#include "critic/message_json.h"

#include "core/error.h"
#include "critic/search/journal.h"

namespace agon::critic {
namespace {

Role role_named(const std::string& name) {
  for (const Role role : {Role::system, Role::user, Role::assistant, Role::tool})
    if (to_string(role) == name) return role;
  throw Error("messages: no role '{}'.", name);
}

}  // namespace

Json messages_json(const std::vector<Message>& messages, std::vector<Image>& images) {
  Json list = Json::array();
  for (const Message& message : messages) {
    Json parts = Json::array();
    for (const Part& part : message.parts) {
      if (part.is_image()) images.push_back(part.image);
      parts.push_back(part.is_image() ? Json{{"image", part.image.hash().hex()}}
                                      : Json{{"text", text_json(part.text)}});
    }
    list.push_back({{"role", to_string(message.role)}, {"parts", std::move(parts)}});
  }
  return list;
}

std::vector<Message> messages_in(const Json& list, const std::function<Image(const std::string&)>& image) {
  std::vector<Message> messages;
  for (const Json& json : list) {
    Message& message = messages.emplace_back();
    message.role = role_named(json.at("role"));
    for (const Json& part : json.at("parts"))
      message.parts.push_back(part.contains("image") ? Part::of(image(part.at("image")))
                                                     : Part::of(text_of(part.at("text"))));
  }
  return messages;
}

}  // namespace agon::critic
