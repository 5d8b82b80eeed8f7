// tools/search/index_progress.h - what build_search_index tells, for a person who waits.
#pragma once

#include <string>

#include "tools/search/index_builder.h"

namespace agon::tools {

// Bars on stderr (core/progress.h), one a phase, from the third second on. They are wiped when the last copy goes.
IndexProgress show_progress(const std::string& label);

}  // namespace agon::tools
