// tools/search/index_progress.h - shows a person who waits the progress of build_search_index.
#pragma once

#include <string>

#include "tools/search/index_builder.h"

namespace agon::tools {

// Bars on stderr (core/progress.h), one a phase, from the third second on. They are wiped when the last copy goes.
IndexProgress show_progress(const std::string& label);

}  // namespace agon::tools
