// sandbox/connection.h - the host's end of the launcher's socket: requests from any thread, replies by a thread of its
// own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "core/descriptor.h"
#include "core/json.h"

namespace agon::sandbox {

class Connection {
 public:
  explicit Connection(Descriptor socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(const Json& message);  // whole; a launcher that is gone shows in the reply
  std::optional<Json> receive();   // before the first ask(): the next message; nothing once the launcher is gone
  // Blocks for the reply; nothing once the launcher is gone. Files that came before it are its "artifacts": name,
  // bytes.
  std::optional<Json> ask(Json request);
  bool closed();  // the launcher is gone

 private:
  void read_replies();
  const Descriptor socket_;
  std::mutex writing_, mutex_;
  std::condition_variable arrived_;
  struct Reply {
    std::optional<Json> message;  // empty while awaited
    Json artifacts = Json::array();
  };
  void take(Json message);
  std::map<std::int64_t, Reply> replies_;  // by id
  std::int64_t last_ = 0;
  bool closed_ = false;
  std::thread reader_;
};

}  // namespace agon::sandbox
