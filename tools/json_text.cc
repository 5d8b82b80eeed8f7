#include "tools/json_text.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace agon::tools {

namespace {

constexpr int kDeepestOfFile = 32, kMostValuesOfFile = 100'000'000;

// What stands in the place of JSON there, as other programs write it; empty: nothing known.
std::string hint_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(std::min(at, text.size()));
  const std::string_view before = trim(text.substr(0, std::min(at, text.size())));
  for (const std::string_view word : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "None", "undefined"})
    if (rest.starts_with(word)) return fmt::format(". JSON has no {}: write null, or leave the key out", word);
  if (rest.starts_with("True") || rest.starts_with("False")) return ". JSON writes true and false";
  if (rest.starts_with("'")) return ". JSON takes \" for quotation marks";
  if (rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with("#")) return ". JSON has no comments";
  if ((rest.starts_with("}") || rest.starts_with("]")) && before.ends_with(",")) return ". Remove the comma before it";
  return {};
}

// "not JSON: column 12: syntax error ...", from nlohmann's "[json.exception...] parse error at line 1, column 12: ...".
std::string fault_of(std::string_view text, const SortedJson::exception& exception) {
  std::string_view what = exception.what();
  what = what.substr(what.find("] ") + 2);
  const auto* error = dynamic_cast<const SortedJson::parse_error*>(&exception);
  constexpr std::string_view kStart = "parse error at line ";
  if (!error || !what.starts_with(kStart)) return fmt::format("not JSON: {}", what);
  what.remove_prefix(kStart.size());
  const bool one_line = text.find('\n') == text.npos;
  if (one_line) what.remove_prefix(std::min(what.find("column"), what.size()));
  // The parser reads a little on: the fault begins where the word does that it could not read.
  std::size_t at = error->byte > 0 ? error->byte - 1 : 0;
  const auto in_word = [&](std::size_t i) {
    return i < text.size() && (std::isalpha(static_cast<unsigned char>(text[i])) != 0 || text[i] == '-');
  };
  while (at > 0 && in_word(at) && in_word(at - 1)) --at;
  return fmt::format("not JSON: {}{}{}", one_line ? "" : "line ", what, hint_at(text, at));
}

struct DoubledKey {};

// How many keys each open object has had. Throws DoubledKey at the end of one that holds fewer.
class KeyCount {
 public:
  void look(int depth, SortedJson::parse_event_t event, const SortedJson& value) {
    const auto level = static_cast<std::size_t>(depth);
    if (event == SortedJson::parse_event_t::object_start) {
      counts_.resize(std::max(counts_.size(), level + 2));
      counts_[level + 1] = 0;
    } else if (event == SortedJson::parse_event_t::key) {
      ++counts_[level];
    } else if (event == SortedJson::parse_event_t::object_end && counts_[level + 1] > value.size()) {
      throw DoubledKey();
    }
  }

 private:
  std::vector<std::size_t> counts_;
};

// The first key that an object of the text has twice. REQUIRES: JSON.
std::string doubled_key(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string doubled;
  const auto look = [&](int depth, SortedJson::parse_event_t event, SortedJson& value) {
    const auto level = static_cast<std::size_t>(depth);
    keys.resize(std::max(keys.size(), level + 2));
    if (event == SortedJson::parse_event_t::object_start) keys[level + 1].clear();
    if (event == SortedJson::parse_event_t::key && !keys[level].insert(value.get<std::string>()).second &&
        doubled.empty())
      doubled = value.get<std::string>();
    return true;
  };
  [[maybe_unused]] const SortedJson value = SortedJson::parse(text, look, false);
  return doubled;
}

}  // namespace

ParsedJson parse_json(std::string_view text, int deepest, int most_values) {
  int values = 0;
  const auto is_bounded = [&](int depth, SortedJson::parse_event_t, SortedJson&) {
    if (depth > deepest) throw Error("nested more than {} deep", deepest);
    if (++values > most_values) throw Error("of more than {} values", most_values);
    return true;
  };
  try {
    return {SortedJson::parse(text, is_bounded), {}};
  } catch (const SortedJson::exception& exception) {
    const std::string_view what = exception.what();
    return {{}, fmt::format("not JSON: {}", what.substr(what.find("] ") + 2))};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

ParsedJson parse_json_of_file(std::string_view text) {
  KeyCount keys;
  int values = 0;
  const auto is_bounded = [&](int depth, SortedJson::parse_event_t event, SortedJson& value) {
    if (depth > kDeepestOfFile) throw Error("nested more than {} deep", kDeepestOfFile);
    if (++values > kMostValuesOfFile) throw Error("of more than {} values", kMostValuesOfFile);
    keys.look(depth, event, value);
    return true;
  };
  try {
    return {SortedJson::parse(text, is_bounded), {}};
  } catch (const SortedJson::exception& exception) {
    return {{}, fault_of(text, exception)};
  } catch (const DoubledKey&) {
    return {{}, fmt::format("the key {} is there twice. Keep one", shown_text(doubled_key(text)))};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

void refuse_other_formats(const std::string& path, std::string_view start) {
  const auto begins = [start](std::string_view magic) { return start.starts_with(magic); };
  if (begins("PAR1"))
    throw Error(
        "{0}: Parquet is not read here. Convert it, with pandas and pyarrow: python3 -c \"import pandas; "
        "pandas.read_parquet('{0}').to_json('{0}.jsonl', orient='records', lines=True)\"",
        path);
  if (begins("version https://git-lfs"))
    throw Error("{}: this is a pointer of Git LFS, not the file. Run git lfs pull in its repository.", path);
  if (begins("\x1F\x8B")) throw Error("{0}: compressed by gzip. Unpack it: gzip -dc {0} >tasks.jsonl", path);
  if (begins("BZh")) throw Error("{0}: compressed by bzip2. Unpack it: bzip2 -dc {0} >tasks.jsonl", path);
  if (begins("\xFD\x37zXZ")) throw Error("{0}: compressed by xz. Unpack it: xz -dc {0} >tasks.jsonl", path);
  if (begins("\x28\xB5\x2F\xFD")) throw Error("{0}: compressed by zstd. Unpack it: zstd -dc {0} >tasks.jsonl", path);
  if (begins("PK\x03\x04"))
    throw Error("{}: a zip archive or a workbook. Unpack it, or export it as JSON lines.", path);
  const bool wide = begins("\xFF\xFE") || begins("\xFE\xFF") || (start.size() > 1 && (!start[0] || !start[1]));
  if (wide)
    throw Error("{0}: UTF-16 text, where JSON is UTF-8. Convert it: iconv -f UTF-16 -t UTF-8 {0} >tasks.jsonl", path);
}

std::string shown(const SortedJson& value) {
  const std::string text = value.dump(-1, ' ', true, SortedJson::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string shown_text(std::string_view text, std::size_t most) {
  const std::string_view start = cut_text(trim(text.substr(0, 16 * most)), most);
  std::string line;
  for (const char c : start) line += static_cast<unsigned char>(c) < ' ' || c == 0x7F ? ' ' : c;
  const std::string quoted = SortedJson(line).dump(-1, ' ', false, SortedJson::error_handler_t::replace);
  return fmt::format("{}{}", quoted, start.size() < text.size() ? "..." : "");
}

}  // namespace agon::tools
