#include "env/suites/lookup/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "core/rng.h"
#include "env/kit/draw.h"

namespace agon::env::lookup {
namespace {

constexpr int kPeople = 6000, kTowns = 1800;
constexpr int kFirstYear = 1000, kLastYear = 1899;

constexpr std::array<std::string_view, kHouseKinds> kKindNames{"Order", "Guild", "League"};
constexpr std::array<std::string_view, kRelations> kNouns{"founder",    "seat",  "founding year", "birthplace",
                                                          "birth year", "trade", "river",         "mayor"};
constexpr std::array<std::string_view, 16> kTrades{"weaver", "smith",  "baker",   "mason",  "sailor", "potter",
                                                   "tanner", "miller", "carver",  "dyer",   "cooper", "glazier",
                                                   "tailor", "farmer", "painter", "printer"};
constexpr std::array<std::string_view, 16> kGivenStarts{"Ba", "De", "Fi", "Go", "Ha", "Ju", "Ke", "La",
                                                        "Mi", "No", "Pe", "Ra", "Se", "Ti", "Ve", "Wi"};
constexpr std::array<std::string_view, 8> kGivenEnds{"ra", "lin", "mo", "na", "rik", "sa", "tor", "ven"};
constexpr std::array<std::string_view, 24> kFamilyStarts{"Al",   "Bor", "Cas", "Dun", "Eld", "Fer", "Gar", "Hol",
                                                         "Ing",  "Jor", "Kel", "Lam", "Mar", "Nor", "Os",  "Pel",
                                                         "Quin", "Ros", "Sal", "Tor", "Ulm", "Var", "Wes", "Yor"};
constexpr std::array<std::string_view, 8> kFamilyEnds{"den", "wick", "mar", "ton", "holt", "by", "stead", "rin"};
constexpr std::array<std::string_view, 24> kTownStarts{"Av",  "Bel", "Cor", "Dra", "El",  "Far", "Gal", "Hav",
                                                       "Il",  "Jas", "Kav", "Lor", "Mon", "Nav", "Or",  "Pol",
                                                       "Rav", "Sol", "Tav", "Ur",  "Vel", "Wol", "Yel", "Zan"};
constexpr std::array<std::string_view, 5> kVowels{"a", "e", "i", "o", "u"};
constexpr std::array<std::string_view, 16> kTownEnds{"bra", "dos", "gar",  "mund", "nia", "ros", "sk",  "tis",
                                                     "vik", "zan", "ford", "ham",  "lo",  "mir", "pol", "quay"};
constexpr std::array<std::string_view, 10> kRiverStarts{"Ab",  "Ed",  "Ib",  "Ol",  "Um",
                                                        "Ath", "Esk", "Ith", "Oss", "Urr"};
constexpr std::array<std::string_view, 12> kRiverEnds{"ana", "ene", "ila", "oro", "une", "wen",
                                                      "mel", "dor", "ley", "sar", "tey", "bek"};

using Words = std::span<const std::string_view>;

// All words that take one piece from each part, shuffled.
std::vector<std::string> all_words(const std::vector<Words>& parts, Rng& rng) {
  std::vector<std::string> words{""};
  for (const Words& part : parts) {
    std::vector<std::string> longer;
    for (const std::string& word : words)
      for (const std::string_view end : part) longer.push_back(word + std::string(end));
    words = std::move(longer);
  }
  rng.shuffle(words);
  return words;
}

std::string capital(std::string_view word) {
  std::string result(word);
  result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

std::string name_of(const Charge& charge) {
  return fmt::format("{} {}", capital(palette()[static_cast<std::size_t>(charge.color)].name),
                     capital(to_string(charge.form)));
}

// Pairs of different charges, shuffled. No two pairs have the same colors and forms, in whatever combination.
std::vector<std::array<Charge, 2>> all_pairs(Rng& rng) {
  std::vector<Charge> charges;
  for (int color = 0; color < kShapeColors; ++color)
    for (int form = 0; form < kForms; ++form) charges.push_back({color, static_cast<Form>(form)});
  std::vector<std::array<Charge, 2>> pairs;
  for (const Charge& left : charges)
    for (const Charge& right : charges)
      if (left != right) pairs.push_back({left, right});
  rng.shuffle(pairs);
  std::set<std::array<int, 4>> seen;
  std::erase_if(pairs, [&](const std::array<Charge, 2>& pair) {
    const auto [few, many] = std::minmax({pair[0].color, pair[1].color});
    const auto [first, last] = std::minmax({pair[0].form, pair[1].form});
    return !seen.insert({few, many, static_cast<int>(first), static_cast<int>(last)}).second;
  });
  return pairs;
}

int any_of(const std::size_t count, Rng& rng) { return rng.between(0, static_cast<int>(count) - 1); }
int any_year(Rng& rng) { return rng.between(kFirstYear, kLastYear); }

World make_world() {
  World world;
  Rng rng = Rng::derive(0, "lookup/world");
  world.rivers = all_words({kRiverStarts, kRiverEnds}, rng);
  std::vector<std::string> towns = all_words({kTownStarts, kVowels, kTownEnds}, rng);
  std::vector<std::string> people =
      all_words({kGivenStarts, kGivenEnds, std::array{std::string_view(" ")}, kFamilyStarts, kFamilyEnds}, rng);
  towns.resize(kTowns);
  people.resize(kPeople);
  for (std::string& name : people)
    world.people.push_back({std::move(name), any_of(kTowns, rng), any_year(rng), any_of(kTrades.size(), rng)});
  for (std::string& name : towns)
    world.towns.push_back({std::move(name), any_of(world.rivers.size(), rng), any_of(kPeople, rng)});
  for (int kind = 0; kind < kHouseKinds; ++kind)
    for (const auto& pair : all_pairs(rng))
      world.houses.push_back(
          {static_cast<HouseKind>(kind), pair, any_of(kPeople, rng), any_of(kTowns, rng), any_year(rng)});
  return world;
}

std::string text_of(const World& world, const House& house) {
  return fmt::format("It was founded by {} in {}. Its seat is {}.",
                     world.people[static_cast<std::size_t>(house.founder)].name, house.year,
                     world.towns[static_cast<std::size_t>(house.seat)].name);
}
std::string text_of(const World& world, const Person& person) {
  return fmt::format("{}, a {}, was born in {} in {}.", person.name, kTrades[static_cast<std::size_t>(person.trade)],
                     world.towns[static_cast<std::size_t>(person.birthplace)].name, person.birth_year);
}
std::string text_of(const World& world, const Town& town) {
  return fmt::format("The town of {} lies on the river {}. Its mayor is {}.", town.name,
                     world.rivers[static_cast<std::size_t>(town.river)],
                     world.people[static_cast<std::size_t>(town.mayor)].name);
}

// A document that shares words with the things but answers no question.
tools::Document note(const World& world, Rng& rng) {
  const std::string& town = rng.pick(world.towns).name;
  const std::string& person = rng.pick(world.people).name;
  const std::string& other = rng.pick(world.people).name;
  const std::string charge = name_of(rng.pick(world.houses).charges[0]);
  switch (rng.between(0, 3)) {
    case 0:
      return {"", fmt::format("The {}", charge),
              fmt::format("The {} is an inn at {}, kept by {}.", charge, town, person)};
    case 1:
      return {"", fmt::format("Fair of {}", town),
              fmt::format("Every year {} opens the fair. {} won it once.", person, other)};
    case 2:
      return {"", fmt::format("Letter of {}", any_year(rng)),
              fmt::format("{} wrote to {} from {}.", person, other, town)};
    default:
      return {"", fmt::format("A ship named {}", charge),
              fmt::format("She sailed in {} under {}.", any_year(rng), person)};
  }
}

template <typename Item>
const Item& at(const std::vector<Item>& items, int number) {
  return items[static_cast<std::size_t>(number)];
}

}  // namespace

std::string_view noun_of(Relation relation) { return kNouns[static_cast<std::size_t>(relation)]; }

std::optional<Relation> relation_of(std::string_view noun) {
  const auto found = std::find(kNouns.begin(), kNouns.end(), noun);
  return found == kNouns.end() ? std::nullopt : std::optional(static_cast<Relation>(found - kNouns.begin()));
}

std::string name_of(const House& house) {
  return fmt::format("{} of the {} and the {}", kKindNames[static_cast<std::size_t>(house.kind)],
                     name_of(house.charges[0]), name_of(house.charges[1]));
}

std::string World::name_of(const Thing& thing) const {
  if (thing.kind == ThingKind::house) return lookup::name_of(at(houses, thing.number));
  return thing.kind == ThingKind::person ? at(people, thing.number).name : at(towns, thing.number).name;
}

std::string World::value_of(const Thing& thing, Relation relation) const {
  if (const auto next = follow(thing, relation)) return name_of(*next);
  switch (relation) {
    case Relation::founding_year:
      return std::to_string(at(houses, thing.number).year);
    case Relation::birth_year:
      return std::to_string(at(people, thing.number).birth_year);
    case Relation::trade:
      return std::string(kTrades[static_cast<std::size_t>(at(people, thing.number).trade)]);
    default:
      return at(rivers, at(towns, thing.number).river);
  }
}

std::optional<Thing> World::follow(const Thing& thing, Relation relation) const {
  switch (relation) {
    case Relation::founder:
      return Thing{ThingKind::person, at(houses, thing.number).founder};
    case Relation::seat:
      return Thing{ThingKind::town, at(houses, thing.number).seat};
    case Relation::birthplace:
      return Thing{ThingKind::town, at(people, thing.number).birthplace};
    case Relation::mayor:
      return Thing{ThingKind::person, at(towns, thing.number).mayor};
    default:
      return std::nullopt;
  }
}

const World& lookup_world() {
  static const World kWorld = make_world();
  return kWorld;
}

std::vector<tools::Document> lookup_documents() {
  const World& world = lookup_world();
  std::vector<tools::Document> documents;
  for (const House& house : world.houses) documents.push_back({"", name_of(house), text_of(world, house)});
  for (const Person& person : world.people) documents.push_back({"", person.name, text_of(world, person)});
  for (const Town& town : world.towns) documents.push_back({"", town.name, text_of(world, town)});
  Rng rng = Rng::derive(0, "lookup/notes");
  while (documents.size() < kLookupDocuments) documents.push_back(note(world, rng));
  rng.shuffle(documents);
  for (std::size_t i = 0; i < documents.size(); ++i) documents[i].id = std::to_string(i);
  return documents;
}

}  // namespace agon::env::lookup
