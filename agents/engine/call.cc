#include "agents/engine/call.h"

#include <new>
#include <string>
#include <utility>

#include "core/error.h"

namespace agon::agents {
namespace {

std::string message_of(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const Error& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "policy: the memory ran out. Lower the number of sequences decoded together, or use a machine with more "
           "memory.";
  } catch (const std::exception& error) {
    return fmt::format("policy: {}", error.what());
  } catch (...) {
    return "policy: its work ended with an unknown exception.";
  }
}

// Makes a separate exception object for each call, so that threads do not share one. Out of memory: the given one.
std::exception_ptr as_error(const std::exception_ptr& why) noexcept {
  try {
    return std::make_exception_ptr(Error("{}", message_of(why)));
  } catch (...) {
    return why;
  }
}

}  // namespace

void EngineCall::succeed() noexcept {
  ended = true;
  done.set_value();
}

void EngineCall::fail(const std::exception_ptr& why) noexcept {
  if (std::exchange(ended, true)) return;
  done.set_exception(as_error(why));
}

}  // namespace agon::agents
