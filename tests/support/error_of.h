// tests/support/error_of.h - returns the message of the Error that a call throws.
#pragma once

#include <concepts>
#include <string>

#include "core/error.h"

namespace agon::test {

// The message of the Error that `call` throws; empty if it throws none.
std::string error_of(const std::invocable auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace agon::test
