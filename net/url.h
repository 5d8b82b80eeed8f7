// net/url.h - encodes text for URLs, and strips secrets from URLs.
#pragma once

#include <string>
#include <string_view>

namespace agon::net {

std::string url_encode(std::string_view text);  // all bytes except letters, digits and "-._~" as %XX
// Scheme, host, port and path: the part of a URL that messages and records may show.
std::string public_url(std::string_view url);

}  // namespace agon::net
