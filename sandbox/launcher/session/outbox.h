// sandbox/launcher/session/outbox.h - a buffer of bytes that wait to be sent. Sending n bytes takes time proportional
// to n.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agon::sandbox::launcher {

class Outbox {
 public:
  bool empty() const { return sent_ == bytes_.size(); }
  void add(std::string_view bytes) { bytes_ += bytes; }
  std::string_view next(std::size_t most) const { return std::string_view(bytes_).substr(sent_, most); }
  // REQUIRES: no more than next() gave.
  void sent(std::size_t bytes) {
    sent_ += bytes;
    if (sent_ * 2 < bytes_.size()) return;
    bytes_.erase(0, sent_);
    sent_ = 0;
  }
  void clear() {
    bytes_.clear();
    sent_ = 0;
  }

 private:
  std::string bytes_;
  std::size_t sent_ = 0;  // of bytes_
};

}  // namespace agon::sandbox::launcher
