// cli/tables/ranking_table.h - figures of who ranks responses, as a table.
#pragma once

#include <string>

#include "core/json.h"

namespace agon::cli {

// rows: [{data, model, figures: critic::ranking_json}]; of several categories each has a line of its own.
std::string ranking_table(const Json& rows);
// What became of a judge's requests, from critic::counts_json: a line of counts and their names.
std::string verdicts_text(const Json& counts);

}  // namespace agon::cli
