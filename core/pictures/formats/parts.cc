#include "core/pictures/formats/parts.h"

namespace agon::image_formats {

void keep(ImageHeader& header, Bytes bytes, std::size_t begin, std::size_t end) {
  if (begin >= end) return;
  if (!header.parts.empty()) {
    Bytes& last = header.parts.back();
    if (last.data() + last.size() == bytes.data() + begin) {
      last = {last.data(), last.size() + (end - begin)};
      return;
    }
  }
  header.parts.push_back(bytes.subspan(begin, end - begin));
}

}  // namespace agon::image_formats
