// tests/support/error_of.h - the Error of a call that fails.
#pragma once

#include <concepts>
#include <string>

#include "core/error.h"

namespace agon::test {

// The message of the Error that `call` throws; empty where it throws none.
std::string error_of(const std::invocable auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace agon::test
