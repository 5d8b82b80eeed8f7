// libFuzzer harness of the splitting into words: the words of a text are in order, are UTF-8, and none is empty.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/checks.h"
#include "tools/search/words.h"

using namespace agon::tools;

namespace {

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
