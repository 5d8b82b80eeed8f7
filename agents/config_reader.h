// agents/config_reader.h - reads YAML files as JSON, and their values key by key, so that an error names the wrong key
// or type.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace agon::agents {

// Numbers, true, false and null become JSON values, everything else strings. Throws Error naming the file, also if it
// holds several documents.
Json read_yaml(const std::filesystem::path& file);
Json parse_yaml_value(const std::string& text);  // text as the value of one key; throws Error
// Sets the value (YAML) of a dotted key: "optimizer.learning_rate=1e-5", "sources.0.level=3". Throws Error, starting
// with "--set", for a text that is not an assignment and for a key that cannot exist.
void set_value(Json& config, const std::string& assignment);
std::string to_yaml(const Json& json);  // block style; short lists of plain values on one line

// Reads the keys of one mapping and remembers them, so that check() finds unknown keys. Keeps a reference to the JSON.
class ConfigSection {
 public:
  // name: the start of each error message, as in "train: runs/a.yaml: sources".
  ConfigSection(const Json& json, std::string name);
  template <typename T>
  void read(const char* key, T& value) {  // keeps value if the key is absent; throws Error for a wrong type
    known_.emplace_back(key);
    if (!json_.contains(key)) return;
    const Json& given = json_.at(key);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (given.is_number() && !holds_exactly<T>(given))
        throw Error("{}: '{}' must be a whole number from {} to {}, got {}.", name_, key, std::numeric_limits<T>::min(),
                    std::numeric_limits<T>::max(), given.dump());
    }
    try {
      value = given.get<T>();
    } catch (const Json::exception&) {
      throw Error("{}: '{}' has the wrong type: {}{}", name_, key, given.dump().substr(0, 80),
                  kWantsList<T> && !given.is_array() ? ". Write a list, as in [a, b]." : "");
    }
  }
  void read_threads(int& threads);     // "threads": 0 (one per core) to 1024; throws Error for any other number
  const Json* child(const char* key);  // null if absent
  void check() const;                  // throws Error for a key that was not read, suggesting the nearest known one
  const std::string& name() const { return name_; }

 private:
  template <typename T>
  static constexpr bool kWantsList = !std::is_same_v<T, std::string> && requires(T list) {
    list.push_back(list.front());
  };
  template <typename T>
  static bool holds_exactly(const Json& number) {
    if (number.is_number_unsigned()) return std::in_range<T>(number.get<std::uint64_t>());
    if (number.is_number_integer()) return std::in_range<T>(number.get<std::int64_t>());
    const auto real = number.get<double>();  // 1e3
    return real == std::trunc(real) && std::abs(real) < 0x1p53 && std::in_range<T>(static_cast<std::int64_t>(real));
  }

  const Json& json_;
  std::string name_;
  std::vector<std::string> known_;
};

}  // namespace agon::agents
