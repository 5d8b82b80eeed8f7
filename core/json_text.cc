#include "core/json_text.h"

#include <array>

namespace agon {

Json json_of(std::string_view text) {
  std::array<int, kDeepestJson + 2> keys{};  // so far, of the open object at each depth
  const auto is_bounded = [&](int depth, Json::parse_event_t event, Json&) {
    if (depth > kDeepestJson) throw Error("nested more than {} deep", kDeepestJson);
    const auto level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start) keys[level + 1] = 0;
    if (event == Json::parse_event_t::key && ++keys[level] > kMostJsonKeys)
      throw Error("an object has more than {} keys", kMostJsonKeys);
    return true;
  };
  try {
    return Json::parse(text, is_bounded);
  } catch (const Json::exception& exception) {
    const std::string_view what = exception.what();
    const std::size_t begin = what.find("] ");
    throw Error("not JSON: {}", begin == what.npos ? what : what.substr(begin + 2));
  }
}

Json json_or_discarded(std::string_view text) {
  try {
    return json_of(text);
  } catch (const Error&) {
    return Json(Json::value_t::discarded);
  }
}

}  // namespace agon
