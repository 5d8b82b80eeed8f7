// Any bytes as a text: its words lie in it in order, are UTF-8, and none is empty.
#include <utf8proc.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/words.h"

using namespace agon::tools;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    utf8proc_int32_t character = -1;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &character);
    if (size <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

struct Seen {
  std::size_t begin = 0, most = 0;
};

bool see(void* context, std::string_view word, std::size_t begin, std::size_t end) {
  auto& seen = *static_cast<Seen*>(context);
  require(!word.empty() && is_utf8(word) && begin >= seen.begin && end > begin && end <= seen.most);
  seen.begin = begin;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Words words;
  Seen seen{.most = size};
  require(words.for_each({reinterpret_cast<const char*>(data), size}, see, &seen));
  return 0;
}
