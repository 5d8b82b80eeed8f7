// net/url.h - text in and from URLs.
#pragma once

#include <string>
#include <string_view>

namespace agon::net {

std::string url_encode(std::string_view text);  // all but letters, digits and "-._~" as %XX
// Scheme, host, port and path: what a message or a record may show of a URL.
std::string public_url(std::string_view url);

}  // namespace agon::net
