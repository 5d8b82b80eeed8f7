#include "net/url.h"

#include <fmt/format.h>

namespace agon::net {

std::string url_encode(std::string_view text) {
  constexpr std::string_view kPlain = "-._~";
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

std::string public_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::size_t mark = url.find("://"), scheme = mark == std::string_view::npos ? 0 : mark + 3;
  const std::string_view rest = url.substr(scheme);
  const std::size_t user = rest.rfind('@');  // wherever it stands: a password may hold a '/'
  return fmt::format("{}{}", url.substr(0, scheme), rest.substr(user == std::string_view::npos ? 0 : user + 1));
}

}  // namespace agon::net
