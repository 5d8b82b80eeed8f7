// serve/api_error.h - the error of a request, in the format of OpenAI's API.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "net/http_server.h"

namespace agon::serve {

struct ApiError {
  int status = 400;
  std::string message;
  std::string code = {};   // for programs: "context_length_exceeded"; empty: null
  std::string param = {};  // the key of the request that is wrong; empty: null
};

// {"error": {"message", "type", "param", "code"}}
std::string error_body(const ApiError& error);
net::HttpServerAnswer answer_of(const ApiError& error);

// Exception of the functions that read a request. Routes and functions that return Checked catch it.
struct Refused {
  ApiError error;
};
// The error of a key with a wrong value.
Refused refused(const std::string& param, std::string message);
// The error of work that ends because request.stop is set.
Refused cancelled();
inline constexpr const char* kCancelled = "cancelled";  // code of cancelled()
// The error of work that misses its deadline.
Refused late();

// A value that was read, or the error that prevented it.
template <typename Value>
struct Checked {
  Value value = {};
  std::optional<ApiError> error;
};
template <typename Read>
auto checked(Read read) -> Checked<decltype(read())> {
  try {
    return {read(), std::nullopt};
  } catch (Refused& refusal) {
    return {{}, std::move(refusal.error)};
  }
}
template <typename Value>
Value value_or_throw(Checked<Value> checked_value) {
  if (checked_value.error) throw Refused{std::move(*checked_value.error)};
  return std::move(checked_value.value);
}

}  // namespace agon::serve
