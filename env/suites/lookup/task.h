// env/suites/lookup/task.h - a task of the suite lookup: an emblem, and a question that takes one to three documents,
// one after another. Also what steps about it claim.
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

inline constexpr int kLookupLevels = 3;  // so many documents are needed

struct LookupTask {
  int house = 0;
  std::vector<Relation> chain;  // from the house to the answer
  std::string kind, prompt;

  std::string content() const;        // equal for tasks about one house
  std::vector<Thing> things() const;  // whose documents are needed, in this order
  std::string value(std::size_t hop) const;
  std::string answer() const { return value(chain.size() - 1); }
};

LookupTask draw_lookup_task(int level, Rng& rng);

struct Emblem {
  Image picture;  // 112 pixels on both sides
  Json objects;   // StepResult::info["objects"]
};
Emblem draw_emblem(const House& house, Rng& rng);  // rng: where it lies, and on what
std::vector<std::string> emblem_object_names();    // sorted

// What a step claims by these sentences: "The emblem is of the Order of the Red Star and the Blue Cross.", "The founder
// is Mera Tolin."
std::string emblem_sentence(const std::string& house);
std::optional<std::string> parse_emblem_sentence(std::string_view sentence);
struct FoundValue {
  Relation relation = Relation::founder;
  std::string value;
};
std::string found_sentence(const FoundValue& found);
std::optional<FoundValue> parse_found_sentence(std::string_view sentence);

// What the same relation says of another thing of the kind: a wrong value of the hop.
std::string another_value(const LookupTask& task, std::size_t hop, Rng& rng);
std::string another_thing(const LookupTask& task, std::size_t hop, Rng& rng);  // the name of one

}  // namespace agon::env::lookup
