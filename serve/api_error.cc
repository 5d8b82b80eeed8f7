#include "serve/api_error.h"

#include "core/json.h"

namespace agon::serve {
namespace {

const char* type_of(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

std::string error_body(const ApiError& error) {
  return to_text(Json{{"error",
                       {{"message", error.message},
                        {"type", type_of(error.status)},
                        {"param", text_or_null(error.param)},
                        {"code", text_or_null(error.code)}}}});
}

net::HttpServerAnswer answer_of(const ApiError& error) { return {error.status, error_body(error), {}}; }

Refused cancelled() {
  return {{503, "the request was stopped: the client has gone, or the server is stopping.", kCancelled}};
}

Refused late() {
  return {{504, "the answer was not done before this server's deadline. Ask for fewer tokens.", "deadline_exceeded"}};
}

Refused refused(const std::string& param, std::string message) {
  return {{400, std::move(message), "invalid_value", param}};
}

}  // namespace agon::serve
