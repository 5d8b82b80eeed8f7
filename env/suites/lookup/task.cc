#include "env/suites/lookup/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/text.h"
#include "env/kit/draw.h"
#include "env/suites/shapes/picture.h"

namespace agon::env::lookup {
namespace {

constexpr int kSide = 112;  // pixels
constexpr std::array<std::string_view, kHouseKinds> kOutlineNames{"shield", "disc", "flag"};
constexpr std::string_view kEmblemStart = "The emblem is of the ";

using Chain = std::vector<Relation>;
const std::array<std::vector<Chain>, kLookupLevels>& chains() {
  using enum Relation;
  static const std::array<std::vector<Chain>, kLookupLevels> kChains{
      {{{founder}, {seat}, {founding_year}},
       {{founder, birthplace}, {founder, birth_year}, {founder, trade}, {seat, river}, {seat, mayor}},
       {{founder, birthplace, river},
        {founder, birthplace, mayor},
        {seat, mayor, birthplace},
        {seat, mayor, birth_year},
        {seat, mayor, trade}}}};
  return kChains;
}

std::string question(const Chain& chain) {
  std::string of;
  for (auto relation = chain.rbegin(); relation != chain.rend(); ++relation)
    of += fmt::format("the {} of ", noun_of(*relation));
  return fmt::format("{} is {}the house with this emblem?",
                     chain.back() == Relation::founder || chain.back() == Relation::mayor ? "Who" : "What", of);
}

std::string kind_of(const Chain& chain) {
  std::string kind;
  for (const Relation relation : chain) kind += fmt::format("{}{}", kind.empty() ? "" : " ", noun_of(relation));
  std::replace(kind.begin(), kind.end(), ' ', '_');
  return kind;
}

// The field on which the charges stand, bordered; (x, y) moves it.
Box draw_field(Canvas& canvas, HouseKind kind, double x, double y) {
  constexpr Color kBorder{60, 60, 60}, kField{250, 250, 250};
  const auto shield = [&](double inset, Color color) {
    const double left = x + 8 + inset, right = x + 100 - inset, top = y + 8 + inset, low = y + 100 - 1.4 * inset;
    const std::array<Point, 5> corners{
        {{left, top}, {right, top}, {right, y + 62}, {(left + right) / 2, low}, {left, y + 62}}};
    canvas.polygon(corners, color);
  };
  switch (kind) {
    case HouseKind::order:
      shield(0, kBorder);
      shield(3, kField);
      return {x + 8, y + 8, x + 100, y + 100};
    case HouseKind::guild:
      canvas.circle({x + 54, y + 54}, 47, kBorder);
      canvas.circle({x + 54, y + 54}, 44, kField);
      return {x + 7, y + 7, x + 101, y + 101};
    case HouseKind::league:
      break;
  }
  canvas.rectangle({x + 4, y + 4, x + 9, y + 104}, kBorder);
  canvas.rectangle({x + 9, y + 14, x + 101, y + 84}, kBorder);
  canvas.rectangle({x + 9, y + 17, x + 98, y + 81}, kField);
  return {x + 4, y + 4, x + 101, y + 104};
}

Json object_of(std::string_view name, const Box& box) {
  return {{"name", name}, {"box", {box.x1, box.y1, box.x2, box.y2}}};
}

const World& world() { return lookup_world(); }

}  // namespace

std::string LookupTask::content() const { return name_of(world().houses[static_cast<std::size_t>(house)]); }

std::vector<Thing> LookupTask::things() const {
  std::vector<Thing> things{{ThingKind::house, house}};
  for (std::size_t hop = 0; hop + 1 < chain.size(); ++hop)
    things.push_back(world().follow(things.back(), chain[hop]).value());
  return things;
}

std::string LookupTask::value(std::size_t hop) const { return world().value_of(things()[hop], chain[hop]); }

LookupTask draw_lookup_task(int level, Rng& rng) {
  LookupTask task;
  task.house = rng.between(0, static_cast<int>(world().houses.size()) - 1);
  task.chain = rng.pick(chains()[static_cast<std::size_t>(level - 1)]);
  task.kind = kind_of(task.chain);
  task.prompt = question(task.chain);
  return task;
}

Emblem draw_emblem(const House& house, Rng& rng) {
  const auto tint = [&] { return static_cast<std::uint8_t>(rng.between(150, 215)); };
  const Color base{tint(), tint(), tint()};
  const int texture_y = rng.between(0, 255), texture_x = rng.between(0, 255);
  Canvas canvas = Canvas::textured(kSide, kSide, base, texture_x, texture_y);
  const double x = rng.between(0, 6), y = rng.between(0, 6);
  Emblem emblem;
  emblem.objects = Json::array();
  emblem.objects.push_back(
      object_of(kOutlineNames[static_cast<std::size_t>(house.kind)], draw_field(canvas, house.kind, x, y)));
  for (std::size_t i = 0; i < 2; ++i) {
    const int side = rng.between(28, 32);
    const double left = x + (i == 0 ? 18 : 56) + rng.between(0, 4), top = y + 28 + rng.between(0, 8);
    const Charge& charge = house.charges[i];
    const Shape shape{false, charge.color, charge.form, {left, top, left + side, top + side}};
    draw_shape(canvas, shape);
    emblem.objects.push_back(object_of(shape_class(charge.color, charge.form), shape.box));
  }
  emblem.picture = std::move(canvas).image();
  return emblem;
}

std::vector<std::string> emblem_object_names() {
  std::vector<std::string> names = shape_classes();
  names.insert(names.end(), kOutlineNames.begin(), kOutlineNames.end());
  std::sort(names.begin(), names.end());
  return names;
}

std::string emblem_sentence(const std::string& house) { return fmt::format("{}{}.", kEmblemStart, house); }

std::optional<std::string> parse_emblem_sentence(std::string_view sentence) {
  if (!sentence.starts_with(kEmblemStart) || !sentence.ends_with('.')) return std::nullopt;
  return std::string(sentence.substr(kEmblemStart.size(), sentence.size() - kEmblemStart.size() - 1));
}

std::string found_sentence(const FoundValue& found) {
  return fmt::format("The {} is {}.", noun_of(found.relation), found.value);
}

std::optional<FoundValue> parse_found_sentence(std::string_view sentence) {
  constexpr std::string_view kStart = "The ", kMiddle = " is ";
  const std::size_t middle = sentence.find(kMiddle);
  if (!sentence.starts_with(kStart) || !sentence.ends_with('.') || middle == sentence.npos) return std::nullopt;
  const auto relation = relation_of(sentence.substr(kStart.size(), middle - kStart.size()));
  if (!relation) return std::nullopt;
  const std::size_t begin = middle + kMiddle.size();
  return FoundValue{*relation, std::string(sentence.substr(begin, sentence.size() - begin - 1))};
}

std::string another_value(const LookupTask& task, std::size_t hop, Rng& rng) {
  const std::string right = task.value(hop);
  for (;;) {
    Thing other = task.things()[hop];
    const std::size_t count = other.kind == ThingKind::house    ? world().houses.size()
                              : other.kind == ThingKind::person ? world().people.size()
                                                                : world().towns.size();
    other.number = rng.between(0, static_cast<int>(count) - 1);
    if (std::string value = world().value_of(other, task.chain[hop]); value != right) return value;
  }
}

std::string another_thing(const LookupTask& task, std::size_t hop, Rng& rng) {
  if (hop > 0) return another_value(task, hop - 1, rng);
  LookupTask other = task;
  while (other.house == task.house) other.house = rng.between(0, static_cast<int>(world().houses.size()) - 1);
  return other.content();
}

}  // namespace agon::env::lookup
