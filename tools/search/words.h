// tools/search/words.h - splits a text in any script into words in the form that searches compare: without case,
// accents and width variants, so that "Cafe" finds "CAFÉ" and "ΣΟΦΟΣ" finds "σοφός". For scripts without spaces, a
// dictionary (ICU) determines where words end. A text may be any bytes. Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace agon::tools {

class Words {
 public:
  Words();
  ~Words();
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  // Called for each word, in order; [begin, end) are its bytes in the text. Returns false to stop.
  using Visit = bool (*)(void* context, std::string_view word, std::size_t begin, std::size_t end);
  // Returns false if a visit did. After a word come its parts that a query may contain alone: each character of a
  // Chinese word, and each pair of neighbouring characters of a longer word in Hangul, Katakana, Thai, Lao, Burmese or
  // Khmer. Throws Error if ICU has no data.
  bool for_each(std::string_view text, Visit visit, void* context);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::tools
