#include "cli/report/page.h"

#include <string_view>

namespace agon::cli {
namespace {

// ASCII JSON without characters that have a meaning in HTML.
std::string inert(const Json& data) {
  std::string text;
  for (const char c : to_ascii(data)) {
    switch (c) {
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      case '&':
        text += "\\u0026";
        break;
      default:
        text += c;
    }
  }
  return text;
}

}  // namespace

std::string report_page(const Json& data) {
  const std::string_view mark = kReportDataMark;
  std::string page = kReportPage;
  return page.replace(page.find(mark), mark.size(), inert(data));
}

}  // namespace agon::cli
