// cli/tables/ranking_table.h - a table of how well models rank responses.
#pragma once

#include <string>

#include "core/json.h"

namespace agon::cli {

// rows: [{data, model, figures: critic::ranking_json}]; with several categories, each gets its own line.
std::string ranking_table(const Json& rows);
// Outcomes of a judge's requests, from critic::counts_json: a line of counts and their names.
std::string verdicts_text(const Json& counts);

}  // namespace agon::cli
