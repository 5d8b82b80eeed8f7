// serve/text_stream.h - the text of a completion in pieces that are never taken back: what may still become a stop
// string, and the start of a character, wait for the next token. The events of a stream: serve/chat_answer.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::serve {

class TextStream {
 public:
  // keeps_stop: the text ends with the stop string that it came to.
  TextStream(std::vector<std::string> stops, bool keeps_stop) : stops_(std::move(stops)), keeps_stop_(keeps_stop) {}
  // Takes the bytes of the next token and returns the text that is certain now: whole characters of UTF-8.
  std::string add(std::string_view token_bytes);
  // What is left of the whole text of the completion, once that is known.
  std::string end(std::string_view text) const;

 private:
  std::size_t held_back() const;  // bytes

  const std::vector<std::string> stops_;
  const bool keeps_stop_;
  std::string waiting_;   // bytes that are not out yet
  std::string recent_;    // the last bytes of all, as many as a stop string may hold
  bool stopped_ = false;  // a stop string is there: what counts of the last token, the whole text says
  std::size_t out_ = 0;   // bytes of text that are out
};

}  // namespace agon::serve
