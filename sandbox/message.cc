#include "sandbox/message.h"

#include <cstdint>
#include <vector>

#include "sandbox/frame.h"

namespace agon::sandbox {

std::string message_frame(const Json& message) {
  const std::vector<std::uint8_t> bytes = Json::to_cbor(message);
  return make_frame({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::optional<Json> read_message(std::string_view payload) try {
  Json message = Json::from_cbor(payload, true, false);
  return message.is_object() ? std::optional(std::move(message)) : std::nullopt;
} catch (const Json::exception&) {  // sizes past all bounds throw even so
  return std::nullopt;
}

}  // namespace agon::sandbox
