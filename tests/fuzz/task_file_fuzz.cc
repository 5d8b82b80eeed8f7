// libFuzzer harness of task files: every item is an object without nulls for known keys, or an Error says where the
// fault is. No key of an item is lost, and none occurs twice.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/json_records.h"
#include "env/kit/task_file.h"
#include "tests/fuzz/checks.h"

using namespace agon;
using namespace agon::env;

namespace {

bool is_tidy(const SortedJson& value) {
  if (value.is_object())
    for (const auto& [key, member] : value.items())
      if (member.is_null()) return false;
  if (value.is_structured())
    for (const SortedJson& member : value)
      if (!is_tidy(member)) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  std::size_t last = 0, items = 0;
  try {
    read_records(content, "f", [&](const SortedJson& item, const RecordPlace& place) {
      require(item.is_object() && is_tidy(item));
      require(items == 0 || place.number > last);
      last = place.number;
      ++items;
      // Parsed without the rules for files, since dump() may write a double with digits that are not the nearest.
      const ParsedJson again = parse_json(item.dump());
      require(again.fault.empty() && again.value == item);
      if (!item.contains("prompt") || !item["prompt"].is_string()) return;
      check_picture_marks(item["prompt"].get_ref<const std::string&>(), 1);
    });
  } catch (const Error& error) {
    const std::string_view what = error.what();
    require(what.starts_with("f:") || what.starts_with("f, item"));
  }
  return 0;
}
