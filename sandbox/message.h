// sandbox/message.h - the messages between host and launcher: CBOR maps in frames.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"

namespace agon::sandbox {

std::string message_frame(const Json& message);
std::optional<Json> read_message(std::string_view payload);  // payload: of a frame; empty if it is not a map

}  // namespace agon::sandbox
