# cmake -DSOURCE=... -DVERSION=... -DOUTPUT=... -P: writes the source file behind cli/version.h. Runs in every build and
# leaves the file alone while the commit is the same, so that nothing is compiled again.
set(commit "")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND "${GIT}" -c "safe.directory=${SOURCE}" -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[#include "cli/version.h"

namespace agon::cli {

std::string version() { return "@VERSION@ (commit @commit@)"; }

}  // namespace agon::cli
]] @ONLY)
