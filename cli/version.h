// cli/version.h - the version of agon and the git commit that it was built from.
#pragma once

#include <string>

namespace agon::cli {

std::string version();  // "0.1.0 (commit 28fdaac3b1c2)"; "-dirty" when sources differed from it, "unknown" outside git

}  // namespace agon::cli
