#include "tests/sandbox/abuse_runner/case.h"

#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace agon::sandbox::abuse {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> items;
  for (const std::string& item : split(text, ",")) items.emplace_back(trim(item));
  return items;
}

// "# key: value"
std::optional<std::pair<std::string, std::string>> key_of(const std::string& line) {
  const std::size_t colon = line.find(": ");
  if (!line.starts_with("# ") || colon == std::string::npos) return std::nullopt;
  return std::pair(line.substr(2, colon - 2), std::string(trim(line.substr(colon + 2))));
}

double number_of(const std::string& text) {
  std::size_t end = 0;
  const double number = std::stod(text, &end);
  return number * (text.substr(end) == "M" ? 1 << 20 : text.substr(end) == "K" ? 1 << 10 : 1);
}

// "1..2.5", "45M..75M"
Range range_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) throw Error("abuse: '{}' is not a range: use 1..2", text);
  return {number_of(text.substr(0, dots)), number_of(text.substr(dots + 2))};
}

// The library's mark() gives a process the name that the runner looks for.
bool names_processes(const std::string& code) {
  return code.find("mark()") != std::string::npos || code.find("agon-abuse-churn") != std::string::npos;
}

void take_artifacts(Case& read, const std::string& value) {
  const std::size_t arrow = value.find("->");
  read.artifacts = list_of(value.substr(0, arrow));
  for (std::string& name : read.artifacts)
    if (const std::size_t at = name.find("\\0"); at != std::string::npos) name.replace(at, 2, 1, '\0');
  if (arrow != std::string::npos) read.pictures = std::stoul(value.substr(arrow + 2));
}

// The keys of a header that describe its step.
const std::map<std::string, void (*)(Step&, const std::string&)> kStepKeys = {
    {"reason", [](Step& step, const std::string& value) { step.reasons = list_of(value); }},
    {"output", [](Step& step, const std::string& value) { step.output = value; }},
    {"text", [](Step& step, const std::string& value) { step.text = value; }},
    {"cpu_s", [](Step& step, const std::string& value) { step.cpu = range_of(value); }},
    {"peak_memory", [](Step& step, const std::string& value) { step.peak = range_of(value); }},
    {"neighbour", [](Step& step, const std::string& value) { step.neighbour = number_of(value); }},
    {"same_as", [](Step& step, const std::string& value) { step.same_as = std::stoul(value); }},
    {"unlike", [](Step& step, const std::string& value) { step.unlike = std::stoul(value); }},
    {"count", [](Step& step, const std::string& value) { step.count = std::stoi(value); }},
    {"times", [](Step& step, const std::string& value) { step.times = std::stoi(value); }},
};

// The keys that describe the whole case.
const std::map<std::string, void (*)(Case&, const std::string&)> kCaseKeys = {
    {"on_disk", [](Case& read, const std::string& value) { read.on_disk = number_of(value); }},
    {"in_memory", [](Case& read, const std::string& value) { read.in_memory = number_of(value); }},
    {"limits", [](Case& read, const std::string& value) { read.limits = parse_limits(value, read.limits); }},
    {"tiers", [](Case& read, const std::string& value) { read.tiers = value; }},
    {"dropped", [](Case& read, const std::string& value) { read.dropped = value == "yes"; }},
    {"artifacts", take_artifacts},
};

// In the folder of the case, or one folder above.
fs::path library_of(const fs::path& path) {
  const fs::path beside = path.parent_path() / "lib.py";
  return fs::exists(beside) ? beside : path.parent_path().parent_path() / "lib.py";
}

class Reader {
 public:
  explicit Reader(const fs::path& path) {
    read_.steps.emplace_back();
    std::istringstream lines(read_file(path));
    for (std::string line; std::getline(lines, line);) take_line(line);
    for (const Step& step : read_.steps) {
      read_.names_processes |= names_processes(step.code);
      read_.uses_host |= step.code.find(kHostFolder) != std::string::npos;
    }
    if (uses_library_) read_.steps.front().code = read_file(library_of(path)) + read_.steps.front().code;
  }
  Case result() && { return std::move(read_); }

 private:
  void take_line(const std::string& line) {
    if (line.starts_with("# ---- ")) {
      read_.steps.emplace_back().kind = line.substr(7);
      in_header_ = true;
      return;
    }
    const auto key = in_header_ ? key_of(line) : std::nullopt;
    if (key)
      take(key->first, key->second);
    else
      in_header_ = in_header_ && line.starts_with("#");
    read_.steps.back().code += line + "\n";
  }

  void take(const std::string& key, const std::string& value) {
    if (key.starts_with("case ")) return;
    if (const auto of_step = kStepKeys.find(key); of_step != kStepKeys.end())
      of_step->second(read_.steps.back(), value);
    else if (const auto of_case = kCaseKeys.find(key); of_case != kCaseKeys.end())
      of_case->second(read_, value);
    else if (key == "use")
      uses_library_ = value == "lib";
    else
      throw Error("abuse: there is no key '{}'", key);
  }

  Case read_;
  bool in_header_ = true, uses_library_ = false;
};

}  // namespace

Case read_case(const fs::path& path) { return Reader(path).result(); }

}  // namespace agon::sandbox::abuse
