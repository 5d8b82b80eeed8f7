// core/message.h - the messages that an env and a policy exchange, made of parts (text, images, videos) and tool calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/pictures/image.h"
#include "core/pictures/video.h"

namespace agon {

// A text, an image or a video: exactly one of the three is set.
struct Part {
  std::string text;
  Image image;
  std::shared_ptr<const Video> video = nullptr;
  bool is_image() const { return !image.empty(); }
  bool is_video() const { return video != nullptr; }
  bool is_text() const { return !is_image() && !is_video(); }
  // The text itself, or the hash of the image or video; is_text() tells which.
  std::string content() const;
  static Part of(std::string text) { return {std::move(text), {}}; }
  static Part of(Image image) { return {{}, std::move(image)}; }
  static Part of(std::shared_ptr<const Video> video) { return {{}, {}, std::move(video)}; }
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
  // Assistant messages that a policy wrote keep its tokens: these are fed back unchanged, never tokenised again.
  std::vector<std::int32_t> token_ids;
  std::string text() const;  // the text parts, concatenated
  static Message of(Role role, std::string text) { return {role, {Part::of(std::move(text))}, {}, {}}; }
};

}  // namespace agon
