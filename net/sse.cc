#include "net/sse.h"

namespace agon::net {

void EventStream::feed(std::string_view bytes, const std::function<void(std::string_view data)>& data) {
  for (const char c : bytes) {
    const bool second_half = c == '\n' && after_return_;
    after_return_ = c == '\r';
    if (second_half) continue;
    if (c == '\r' || c == '\n')
      end_line(data);
    else
      line_ += c;
  }
}

void EventStream::end_line(const std::function<void(std::string_view data)>& data) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF", kField = "data";  // a stream may begin with a byte order mark
  std::string_view line = line_;
  if (!begun_ && line.starts_with(kMark)) line.remove_prefix(kMark.size());
  begun_ = true;
  if (line.empty() && has_data_) {
    data(data_);
    data_.clear();
    has_data_ = false;
  }
  const std::size_t colon = line.find(':');
  if (line.substr(0, colon) == kField) {
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  }
  line_.clear();
}

}  // namespace agon::net
