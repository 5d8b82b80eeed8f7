// core/message.h - what an env and a policy exchange: messages made of parts (text, images) and tool calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.h"
#include "core/json.h"

namespace agon {

// Either a text or an image (image set, text empty).
struct Part {
  std::string text;
  Image image;
  bool is_image() const { return !image.empty(); }
  static Part of(std::string text) { return {std::move(text), {}}; }
  static Part of(Image image) { return {{}, std::move(image)}; }
};

struct ToolCall {
  std::string id, name;
  Json arguments;
};

enum class Role { system, user, assistant, tool };
std::string_view to_string(Role role);

struct Message {
  Role role = Role::user;
  std::vector<Part> parts;
  std::vector<ToolCall> tool_calls;
  // Assistant messages that a policy wrote keep its tokens: they are fed back as they are, never tokenised again.
  std::vector<std::int32_t> token_ids;
  std::string text() const;  // the text parts, concatenated
  static Message of(Role role, std::string text) { return {role, {Part::of(std::move(text))}, {}, {}}; }
};

}  // namespace agon
