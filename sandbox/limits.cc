#include "sandbox/limits.h"

#include <array>
#include <charconv>
#include <set>
#include <variant>

#include "core/error.h"

namespace agon::sandbox {
namespace {

struct Field {
  std::string_view name;
  std::variant<double Limits::*, std::int64_t Limits::*> member;
  double least, most;
};

constexpr double kMost = 1ll << 50;
constexpr std::array kFields = {
    Field{"wall", &Limits::wall, 0.001, 1e6},
    Field{"cpu", &Limits::cpu, 0.001, 1e6},
    Field{"memory", &Limits::memory, 16 << 20, kMost},
    Field{"processes", &Limits::processes, 1, 10'000},
    Field{"file", &Limits::file, 4096, kMost},
    Field{"disk", &Limits::disk, 64 << 10, kMost},
    Field{"inodes", &Limits::inodes, 16, 1e9},
    Field{"output", &Limits::output, 1024, kMost},
    Field{"kept_output", &Limits::kept_output, 256, 1 << 30},
};

const Field& field_of(std::string_view name) {
  std::string names;
  for (const Field& field : kFields) {
    if (field.name == name) return field;
    names += (names.empty() ? "" : ", ") + std::string(field.name);
  }
  throw Error("limits: unknown limit '{}'. Use one of: {}", name, names);
}

double factor_of(std::string_view unit) {
  if (unit.empty()) return 1;
  if (unit == "K") return 1 << 10;
  if (unit == "M") return 1 << 20;
  if (unit == "G") return 1 << 30;
  return 0;
}

double parse_value(const Field& field, std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const double factor = factor_of({end, text.data() + text.size()});
  const bool is_count = std::holds_alternative<std::int64_t Limits::*>(field.member);
  if (failure != std::errc() || factor == 0 || (!is_count && factor != 1))
    throw Error("limits: '{}={}' is not a {}", field.name, text,
                is_count ? "size or a count: use a number or a suffix, as in 512M" : "number of seconds, as in 2.5");
  return value * factor;
}

void set(Limits& limits, const Field& field, double value) {
  if (!(value >= field.least && value <= field.most))
    throw Error("limits: {} = {} must be from {} to {}", field.name, value, field.least, field.most);
  if (const auto* seconds = std::get_if<double Limits::*>(&field.member))
    limits.** seconds = value;
  else
    limits.*std::get<std::int64_t Limits::*>(field.member) = static_cast<std::int64_t>(value);
}

}  // namespace

Limits parse_limits(std::string_view text, const Limits& base) {
  Limits limits = base;
  std::set<std::string_view> given;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) throw Error("limits: '{}' is not of the form name=value", item);
    const Field& field = field_of(item.substr(0, equals));
    if (!given.insert(field.name).second) throw Error("limits: {} is given twice. Give it once", field.name);
    set(limits, field, parse_value(field, item.substr(equals + 1)));
  }
  return limits;
}

Json to_json(const Limits& limits) {
  Json json;
  for (const Field& field : kFields)
    std::visit([&](auto member) { json[std::string(field.name)] = limits.*member; }, field.member);
  return json;
}

Limits limits_from_json(const Json& json) {
  Limits limits;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number()) throw Error("limits: {} must be a number, not of type {}", name, value.type_name());
    set(limits, field_of(name), value.get<double>());
  }
  return limits;
}

}  // namespace agon::sandbox
