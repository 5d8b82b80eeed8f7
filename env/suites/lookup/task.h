// env/suites/lookup/task.h - a task of the suite lookup: an emblem, and a question whose answer takes one to three
// documents, found one after another. Also the sentences by which steps state claims.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pictures/image.h"
#include "core/rng.h"
#include "env/env.h"
#include "env/suites/lookup/world.h"

namespace agon::env::lookup {

inline constexpr int kLookupLevels = 3;  // a task of level n needs n documents

struct LookupTask {
  int house = 0;
  std::vector<Relation> chain;  // from the house to the answer
  std::string kind, prompt;

  std::string content() const;        // equal for tasks about one house
  std::vector<Thing> things() const;  // the things whose documents are needed, in order
  std::string value(std::size_t hop) const;
  std::string answer() const { return value(chain.size() - 1); }
};

LookupTask draw_lookup_task(int level, Rng& rng);

struct Emblem {
  Image picture;  // 112 pixels on both sides
  Json objects;   // StepResult::info["objects"]
};
Emblem draw_emblem(const House& house, Rng& rng);  // rng chooses position and background
std::vector<std::string> emblem_object_names();    // sorted

// The sentences by which a step states a claim: "The emblem is of the Order of the Red Star and the Blue Cross.", "The
// founder is Mera Tolin."
std::string emblem_sentence(const std::string& house);
std::optional<std::string> parse_emblem_sentence(std::string_view sentence);
struct FoundValue {
  Relation relation = Relation::founder;
  std::string value;
};
std::string found_sentence(const FoundValue& found);
std::optional<FoundValue> parse_found_sentence(std::string_view sentence);

// A wrong value for the hop: the same relation of another thing of that kind.
std::string another_value(const LookupTask& task, std::size_t hop, Rng& rng);
std::string another_thing(const LookupTask& task, std::size_t hop, Rng& rng);  // the name of a wrong thing for the hop

}  // namespace agon::env::lookup
