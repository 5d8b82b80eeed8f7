#include "core/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>

#include "core/text.h"

namespace agon {
namespace {

Json& program() {
  static Json record = Json::object();
  return record;
}

// The value of a line "key : value" of a file of /proc; empty: no such line.
std::string proc_value(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t:", key.size());
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

Json machine() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  double kib = 0;
  std::istringstream(proc_value("/proc/meminfo", "MemTotal")) >> kib;
  return {{"processor", proc_value("/proc/cpuinfo", "model name")},
          {"cores", known ? CPU_COUNT(&allowed) : 0},
          {"memory_gib", std::round(kib / (1 << 20) * 10) / 10}};
}

// The word as a shell reads it, quoted if necessary.
std::string quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

}  // namespace

void set_program(const std::string& version, const std::string& commit, const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) words.push_back(quoted(word));
  program() = {{"version", version},
               {"commit", commit},
               {"command", fmt::format("{}", fmt::join(words, " "))},
               {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
               {"machine", machine()}};
}

Json provenance(Json about) {
  Json record = program();
  record.update(about);
  return record;
}

std::string provenance_text(const Json& provenance) {
  if (!provenance.is_object() || !provenance.contains("version")) return {};
  const Json machine = provenance.value("machine", Json::object());
  return fmt::format("agon {} (commit {}), {}, {} ({} cores): {}", provenance.value("version", ""),
                     provenance.value("commit", ""), provenance.value("date", ""), machine.value("processor", ""),
                     machine.value("cores", 0), provenance.value("command", ""));
}

std::string provenance_subcommand(const Json& provenance) {
  if (!provenance.is_object() || !provenance.contains("command") || !provenance["command"].is_string()) return {};
  const std::vector<std::string> words = split_words(provenance["command"].get<std::string>());
  return words.size() > 1 && words[0] == "agon" ? words[1] : std::string();
}

Json without_provenance(Json config) {
  if (config.is_object()) config.erase(kProvenance);
  return config;
}

}  // namespace agon
