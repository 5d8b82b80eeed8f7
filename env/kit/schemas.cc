#include "env/kit/schemas.h"

namespace agon::env {

Json message_schema() {
  const Json text = {{"type", "object"},
                     {"properties", {{"text", {{"type", "string"}}}}},
                     {"required", {"text"}},
                     {"additionalProperties", false}};
  const Json image = {
      {"type", "object"},
      {"properties",
       {{"image", {{"type", "string"}, {"contentEncoding", "base64"}, {"contentMediaType", "image/png"}}}}},
      {"required", {"image"}},
      {"additionalProperties", false}};
  return {{"type", "object"},
          {"properties", {{"parts", {{"type", "array"}, {"items", {{"oneOf", {text, image}}}}}}}},
          {"required", {"parts"}}};
}

Json text_action_schema(const std::string& description) {
  return {{"type", "object"},
          {"properties", {{"text", {{"type", "string"}, {"description", description}}}}},
          {"required", {"text"}}};
}

}  // namespace agon::env
