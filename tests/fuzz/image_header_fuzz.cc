// libFuzzer harness of picture headers: the kept parts lie within the bytes that were read, and a complete header lists
// all of them.
#include <cstdint>
#include <cstdlib>

#include "core/pictures/image_header.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto header = agon::read_image_header({data, size});
  if (!header) return 0;
  std::size_t kept = 0;
  for (const auto& part : header->parts) {
    if (part.data() < data || part.data() + part.size() > data + size) std::abort();
    kept += part.size();
  }
  if (kept > size) std::abort();
  if (header->complete && header->fault.empty() && kept == 0) std::abort();
  if (header->orientation < 1 || header->orientation > 8 || header->bytes_per_pixel < 3) std::abort();
  return 0;
}
