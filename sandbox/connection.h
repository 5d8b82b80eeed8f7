// sandbox/connection.h - the host's connection to the launcher: any thread sends requests, one thread of its own reads
// the replies.
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

  void send(const Json& message);  // sends all of it; if the launcher has ended, the reply shows it
  std::optional<Json> receive();   // the next message, before the first ask(); empty once the launcher has ended
  // Waits for the reply; empty once the launcher has ended. Files that arrive before it are its "artifacts": name,
  // bytes.
  std::optional<Json> ask(Json request);
  bool closed();  // the launcher has ended

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
