// cli/report/page.h - builds report.html, one file that needs no network; cli/commands/inspect/report.cc writes it. Its
// text comes from policies and tasks and must never be parsed as markup: the data is JSON without '<', '>' or '&', and
// the script makes text nodes only.
#pragma once

#include <string>

#include "core/json.h"

namespace agon::cli {

extern const char* const kReportPage;  // cli/report/report.html.in with its style and script
inline constexpr const char* kReportDataMark = "@REPORT_DATA@";

// `data`: what report_data() gives. Bytes that are not UTF-8 become U+FFFD.
std::string report_page(const Json& data);

}  // namespace agon::cli
