// tests/sandbox/abuse_runner/host.h - the files, sockets and settings of the host that every case finds and must leave
// unchanged.
#pragma once

#include <string>
#include <vector>

namespace agon::sandbox::abuse {

inline constexpr const char* kCanary = "/tmp/agon-abuse-canary";  // a folder with the secret in it
inline constexpr const char* kSecret = "gold-answer-7391";        // also in this program's environment

class Host {
 public:
  Host();
  ~Host();
  std::vector<std::string> faults(bool names_processes) const;

 private:
  void keep(int socket);
  void listen_on_port();
  void listen_on_name();

  std::vector<int> sockets_, descriptors_;
  std::string settings_;
};

}  // namespace agon::sandbox::abuse
