#include "env/grading/grade_options.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::env {
namespace {

std::vector<std::string> option_texts(const Json& value) {
  const auto is_text = [](const Json& item) { return item.is_string() || item.is_number(); };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_text))
    throw Error("\"options\" is {}, not a list of texts", printed(value));
  std::vector<std::string> texts;
  for (const Json& item : value) texts.push_back(text_of(item));
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (trim(texts[i]).empty()) throw Error("\"options\": option {} is an empty text", i + 1);
  return texts;
}

double share(const Json& value, const char* key) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && std::isfinite(number))) throw Error("\"{}\" is {}, not a number from 0 on", key, printed(value));
  return number;
}

Tolerance tolerance_in(const Json& value) {
  if (!value.is_object()) return {share(value, "tolerance"), 0};
  if (value.empty()) throw Error("\"tolerance\" is {{}}. Give \"relative\" or \"absolute\", or leave it out");
  Tolerance tolerance{0, 0};
  for (const auto& [key, item] : value.items()) {
    if (key == "relative")
      tolerance.relative = share(item, "tolerance/relative");
    else if (key == "absolute")
      tolerance.absolute = share(item, "tolerance/absolute");
    else
      throw Error("{}", unknown_name_message("tolerance", key, {"relative", "absolute"}));
  }
  return tolerance;
}

Coordinates coordinates_in(const Json& value, const char* key) {
  const std::string name = text_of(value);
  if (name == "pixels") return Coordinates::pixels;
  if (name == "0-1") return Coordinates::unit;
  if (name == "0-1000") return Coordinates::thousandths;
  throw Error("\"{}\" is {}; it is \"pixels\", \"0-1\" or \"0-1000\"", key, printed(value));
}

std::pair<double, double> size_in(const Json& value) {
  const bool pair = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number() &&
                    value[0].get<double>() > 0 && value[1].get<double>() > 0;
  if (!pair) throw Error("\"size\" is {}, not [width, height] in pixels", printed(value));
  return {value[0].get<double>(), value[1].get<double>()};
}

}  // namespace

GradeOptions grade_options_of(const Json& task) {
  GradeOptions options;
  const auto given = [&](const char* key) { return task.contains(key) && !task[key].is_null(); };
  if (given("options")) options.options = option_texts(task["options"]);
  if (given("tolerance")) options.tolerance = tolerance_in(task["tolerance"]);
  if (given("coordinates")) options.coordinates = coordinates_in(task["coordinates"], "coordinates");
  if (given("response_coordinates"))
    options.response_coordinates = coordinates_in(task["response_coordinates"], "response_coordinates");
  if (given("size")) options.size = size_in(task["size"]);
  return options;
}

std::string printed(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  const std::string_view start = cut_text(text, 200);
  return fmt::format("{}{}", start, start.size() < text.size() ? "..." : "");
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace agon::env
