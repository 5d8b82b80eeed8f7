// agents/learn/network/torch_environment.h for programs that link LibTorch (tests and benchmarks): there, LibTorch
// loads before any code of the program runs.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "agents/learn/network/torch_environment.h"

namespace {

char* look_up(const char* name) {
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  return nullptr;
}

}  // namespace

// libgomp finds this definition before the C library's. It differs in one thing: OMP_WAIT_POLICY has a default.
extern "C" char* getenv(const char* name) noexcept {
  static char wait_policy[sizeof agon::agents::kOpenMpWaitPolicy];
  char* const value = look_up(name);
  if (value != nullptr || std::strcmp(name, "OMP_WAIT_POLICY") != 0 || look_up("GOMP_SPINCOUNT") != nullptr)
    return value;
  return std::strcpy(wait_policy, agon::agents::kOpenMpWaitPolicy);
}

namespace {

[[maybe_unused]] const bool kIsSet = (agon::agents::set_torch_environment(), true);  // oneDNN reads it at its first use

}  // namespace
