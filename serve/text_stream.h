// serve/text_stream.h - cuts the text of a completion into pieces that can be sent while it is written. Text that may
// still become a stop string, and incomplete characters, wait for the next token. The events of a stream:
// serve/chat_answer.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::serve {

class TextStream {
 public:
  // keeps_stop: the text includes the stop string that ended it.
  TextStream(std::vector<std::string> stops, bool keeps_stop) : stops_(std::move(stops)), keeps_stop_(keeps_stop) {}
  // Takes the bytes of the next token and returns the text that is certain now: whole characters of UTF-8.
  std::string add(std::string_view token_bytes);
  // The rest of `text`, the completion's whole text, after the pieces that add() returned.
  std::string end(std::string_view text) const;

 private:
  std::size_t held_back() const;  // bytes

  const std::vector<std::string> stops_;
  const bool keeps_stop_;
  std::string waiting_;   // bytes that add() has not returned yet
  std::string recent_;    // the last bytes, as many as the longest stop string has
  bool stopped_ = false;  // a stop string was found: end() returns the rest
  std::size_t out_ = 0;   // bytes of text returned so far
};

}  // namespace agon::serve
