// serve/api_error.h - what is wrong with a request, in the form in which OpenAI's servers say it.
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

// What the readers of a request throw to each other. It never leaves a function that returns Checked, nor a route.
struct Refused {
  ApiError error;
};
// For a key with a wrong value.
Refused refused(const std::string& param, std::string message);
// Of work that ends since request.stop is set.
Refused cancelled();
inline constexpr const char* kCancelled = "cancelled";  // its code
// Of work that does not end before its deadline.
Refused late();

// What was read, unless there is an error.
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
