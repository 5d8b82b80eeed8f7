#include "env/kit/schemas.h"

namespace agon::env {

namespace {

Json video_schema(const Json& picture) {
  const Json whole = {{"type", "integer"}, {"minimum", 0}};
  return {{"type", "object"},
          {"properties",
           {{"video",
             {{"type", "object"},
              {"properties",
               {{"frames", {{"type", "array"}, {"items", picture}}},
                {"places", {{"type", "array"}, {"items", whole}}},
                {"source_frames", whole},
                {"chosen", {{"type", "boolean"}}},
                {"fps", {{"type", "number"}, {"exclusiveMinimum", 0}}}}},
              {"required", {"frames", "places", "source_frames", "fps"}}}}}},
          {"required", {"video"}},
          {"additionalProperties", false}};
}

}  // namespace

Json message_schema(bool shows_videos) {
  const Json picture = {{"type", "string"}, {"contentEncoding", "base64"}, {"contentMediaType", "image/png"}};
  const Json text = {{"type", "object"},
                     {"properties", {{"text", {{"type", "string"}}}}},
                     {"required", {"text"}},
                     {"additionalProperties", false}};
  const Json image = {{"type", "object"},
                      {"properties", {{"image", picture}}},
                      {"required", {"image"}},
                      {"additionalProperties", false}};
  Json kinds = Json::array({text, image});
  if (shows_videos) kinds.push_back(video_schema(picture));
  return {{"type", "object"},
          {"properties", {{"parts", {{"type", "array"}, {"items", {{"oneOf", std::move(kinds)}}}}}}},
          {"required", {"parts"}}};
}

Json text_action_schema(const std::string& description) {
  return {{"type", "object"},
          {"properties", {{"text", {{"type", "string"}, {"description", description}}}}},
          {"required", {"text"}}};
}

}  // namespace agon::env
