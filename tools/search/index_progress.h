// tools/search/index_progress.h - shows the progress of build_search_index on the terminal.
#pragma once

#include <string>

#include "tools/search/index_builder.h"

namespace agon::tools {

// A progress bar per phase on stderr (core/progress.h), shown after two seconds. Destroying the last copy of the result
// erases the bar.
IndexProgress show_progress(const std::string& label);

}  // namespace agon::tools
