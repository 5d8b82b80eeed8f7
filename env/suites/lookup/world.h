// env/suites/lookup/world.h - the fictional world of the suite lookup: houses with emblems, the people, towns and
// rivers around them, and the documents about them. The world is always the same.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/suites/shapes/task.h"
#include "tools/search/corpus.h"

namespace agon::env::lookup {

inline constexpr int kLookupDocuments = 20'000;

enum class HouseKind { order, guild, league };  // drawn as a shield, a disc, a flag
inline constexpr int kHouseKinds = 3;

struct Charge {
  int color = 0;  // index in palette()
  Form form = Form::circle;
  auto operator<=>(const Charge&) const = default;
};

struct House {
  HouseKind kind = HouseKind::order;
  std::array<Charge, 2> charges;  // left and right; no other house of the kind has the same colors and forms
  int founder = 0, seat = 0, year = 0;
};
struct Person {
  std::string name;
  int birthplace = 0, birth_year = 0, trade = 0;
};
struct Town {
  std::string name;
  int river = 0, mayor = 0;
};

// The subject of a document: a house, a person or a town, by its number.
enum class ThingKind { house, person, town };
struct Thing {
  ThingKind kind = ThingKind::house;
  int number = 0;
  bool operator==(const Thing&) const = default;
};

// The facts that documents state about their subjects.
enum class Relation { founder, seat, founding_year, birthplace, birth_year, trade, river, mayor };
inline constexpr int kRelations = 8;
std::string_view noun_of(Relation relation);  // "founding year"
std::optional<Relation> relation_of(std::string_view noun);

struct World {
  std::vector<House> houses;
  std::vector<Person> people;
  std::vector<Town> towns;
  std::vector<std::string> rivers;

  std::string name_of(const Thing& thing) const;  // also the title of its document
  // The value of `relation` for a thing. REQUIRES: things of this kind have the relation.
  std::string value_of(const Thing& thing, Relation relation) const;
  // The thing that this value names; nothing for a year, a trade or a river.
  std::optional<Thing> follow(const Thing& thing, Relation relation) const;
};
const World& lookup_world();

std::string name_of(const House& house);  // "Order of the Red Star and the Blue Cross"

// One document per thing, and notes that share words with them: kLookupDocuments in all.
std::vector<tools::Document> lookup_documents();

}  // namespace agon::env::lookup
