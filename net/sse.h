// net/sse.h - reads server-sent events (WHATWG HTML, 9.2) as the bytes of a stream arrive, cut anywhere.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace agon::net {

class EventStream {
 public:
  // Takes the next bytes; `data` gets the data lines of each event that they complete, joined by newlines. Comments,
  // names, ids and events without data are skipped. Lines end with CR, LF or both.
  void feed(std::string_view bytes, const std::function<void(std::string_view data)>& data);
  // Bytes of an event that is not complete yet, for the caller to limit.
  std::size_t held() const { return line_.size() + data_.size(); }

 private:
  void end_line(const std::function<void(std::string_view data)>& data);

  std::string line_, data_;
  bool has_data_ = false, after_return_ = false, begun_ = false;
};

}  // namespace agon::net
