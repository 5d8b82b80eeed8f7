#include "sandbox/launcher/supervisor/polling.h"

#include <sys/epoll.h>

namespace agon::sandbox::launcher {
namespace {

std::uint64_t tag(Source source, int session) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(session);
}

}  // namespace

Polling::Polling() : epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

void Polling::watch(int descriptor, Source source, int session) {
  epoll_event event{EPOLLIN, {.u64 = tag(source, session)}};
  checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

void Polling::unwatch(int descriptor) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr); }

std::vector<Polling::Event> Polling::wait(int milliseconds) {
  epoll_event events[64];
  const int count = epoll_wait(epoll_.get(), events, 64, milliseconds);
  std::vector<Event> all;
  for (int i = 0; i < count; ++i)
    all.push_back({static_cast<Source>(events[i].data.u64 >> 32), static_cast<int>(events[i].data.u64 & 0xffffffff)});
  return all;
}

}  // namespace agon::sandbox::launcher
