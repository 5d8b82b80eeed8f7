#include "serve/request_fields.h"

#include <cmath>
#include <limits>

namespace agon::serve {
namespace {

constexpr int kDeepestBody = 32, kMostBodyValues = 1'000'000;

// 5.0 becomes 5: languages with one type of number write whole numbers that way.
SortedJson without_fraction(const SortedJson& value) {
  constexpr double kExact = 1LL << 53;
  if (!value.is_number_float()) return value;
  const auto number = value.get<double>();
  if (std::trunc(number) != number || std::abs(number) > kExact) return value;
  return static_cast<std::int64_t>(number);
}

Refused wrong(const std::string& key, const SortedJson& value, std::string_view wanted) {
  return refused(key, fmt::format("'{}' is {}, not {}.", key, shown(value), wanted));
}

}  // namespace

SortedJson read_body(std::string_view body) {
  ParsedJson parsed = parse_json(body, kDeepestBody, kMostBodyValues);
  if (!parsed.fault.empty()) throw Refused{{400, fmt::format("the body is {}.", parsed.fault), "invalid_json"}};
  if (!parsed.value.is_object())
    throw Refused{{400, fmt::format("the body is {}, not a JSON object.", shown(parsed.value)), "invalid_json"}};
  return std::move(parsed.value);
}

RequestFields::RequestFields(const SortedJson& object) : object_(object) {
  if (!object.is_object()) throw refused("", fmt::format("{} is not a JSON object.", shown(object)));
}

const SortedJson& RequestFields::at(const std::string& key) const {
  static const SortedJson kNull;
  const auto found = object_.find(key);
  return found == object_.end() ? kNull : *found;
}

bool RequestFields::flag(const std::string& key, bool otherwise) const {
  const SortedJson& value = at(key);
  if (value.is_null()) return otherwise;
  if (!value.is_boolean()) throw wrong(key, value, "true or false");
  return value.get<bool>();
}

double RequestFields::number(const std::string& key, double low, double high, double otherwise) const {
  const SortedJson& value = at(key);
  if (value.is_null()) return otherwise;
  const double number = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(number >= low && number <= high)) throw wrong(key, value, fmt::format("a number from {:g} to {:g}", low, high));
  return number;
}

std::int64_t RequestFields::whole(const std::string& key, std::int64_t low, std::int64_t high,
                                  std::int64_t otherwise) const {
  const SortedJson& value = at(key);
  if (value.is_null()) return otherwise;
  const std::optional<std::int64_t> number = whole_number(without_fraction(value), low, high);
  if (!number) throw wrong(key, value, fmt::format("a whole number from {} to {}", low, high));
  return *number;
}

std::string RequestFields::text(const std::string& key, const std::string& otherwise) const {
  const SortedJson& value = at(key);
  if (value.is_null()) return otherwise;
  if (!value.is_string()) throw wrong(key, value, "a text");
  return value.get<std::string>();
}

std::vector<std::string> RequestFields::texts(const std::string& key) const {
  const SortedJson& value = at(key);
  if (value.is_null()) return {};
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> texts;
  if (!value.is_array()) throw wrong(key, value, "a text or a list of texts");
  for (const SortedJson& one : value) {
    if (!one.is_string()) throw wrong(key, value, "a text or a list of texts");
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

std::vector<std::int32_t> RequestFields::token_ids(const std::string& key) const { return token_ids_in(at(key), key); }

std::vector<std::int32_t> token_ids_in(const SortedJson& list, const std::string& name) {
  if (!list.is_array()) throw wrong(name, list, "a list of token ids");
  std::vector<std::int32_t> ids;
  ids.reserve(list.size());
  for (const SortedJson& one : list) {
    const std::optional<std::int32_t> id = whole_number(one, 0, std::numeric_limits<std::int32_t>::max());
    if (!id) throw wrong(name, one, "a token id");
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace agon::serve
