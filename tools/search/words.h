// tools/search/words.h - the words of a text in any script, as searches compare them: without case, accents and forms
// of width, so that "Cafe" finds "CAFÉ" and "ΣΟΦΟΣ" finds "σοφός". Where a script writes no spaces, a dictionary (ICU)
// says where words end. Any bytes are a text. Not thread-safe.
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

  // Called for each word, in order; [begin, end) are its bytes in the text. False: no more words are wanted.
  using Visit = bool (*)(void* context, std::string_view word, std::size_t begin, std::size_t end);
  // Returns false where a visit did. Behind a word stand the parts of it that a query may give alone: each character of
  // a Chinese word, each two neighbours of a longer word in Hangul, Katakana, Thai, Lao, Burmese or Khmer. Throws Error
  // where ICU has no data.
  bool for_each(std::string_view text, Visit visit, void* context);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::tools
