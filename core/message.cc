#include "core/message.h"

namespace agon {

std::string_view to_string(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
    case Role::tool:
      return "tool";
  }
  return "user";
}

std::string Part::content() const {
  if (is_video()) return video->hash().hex();
  return is_image() ? image.hash().hex() : text;
}

std::string Message::text() const {
  std::string all;
  for (const Part& part : parts) all += part.text;
  return all;
}

}  // namespace agon
