// agents/learn/data/sft/data.h - makes training sequences from demonstrations: ids, which ids are trained, pictures and
// the objects in them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/hub/model_folder.h"
#include "agents/hub/prompt.h"
#include "agents/learn/data/sft/source.h"
#include "core/rng.h"
#include "env/env.h"

namespace agon::agents {

struct SceneObject {
  int object_class = 0;                  // index into the class list
  float x1 = 0, y1 = 0, x2 = 0, y2 = 0;  // as shares of the picture's sides
};

// The messages of one expert episode, and the scenes of its pictures, in order.
struct Demonstration {
  std::vector<Message> messages;  // system, user, assistant, user, assistant, ...
  std::vector<bool> trained;      // per turn; false: shown but not learned
  std::vector<std::vector<SceneObject>> scenes;
};

struct DemonstrationOptions {
  std::uint64_t seed = 0, index = 0;    // the train task
  double detours = 0;                   // chance of a wrong action before each turn; the expert then recovers
  std::optional<Message> first_answer;  // replaces the expert's first turn; shown, not learned
};

// Plays the expert of a train task in `env`. Assistant messages have the form of scored_answer(): usually
// <answer>..</answer><score>0.d</score>. The score is drawn from 0.1 .. 0.9, because a model must write scores before
// it can learn what they mean. `first_answer` stays unchanged. Throws Error for a suite without an expert.
Demonstration demonstrate_task(env::Env& env, const std::string& instructions, const std::vector<std::string>& classes,
                               const DemonstrationOptions& options, Rng& rng);

// An expert's action in the form of a policy's turn: in <answer> tags, with a score from 0.1 .. 0.9. An action that
// thinks in tags, calls a tool, judges a step or corrupts one is already a whole turn and stays unchanged.
std::string scored_answer(const std::string& action, Rng& rng);

// All object classes of the sources' suites, sorted, without repeats.
std::vector<std::string> object_classes(const std::vector<SftSource>& sources);
// The texts that the tokenizer learns from: `count` demonstrations per source.
std::vector<std::string> demonstration_texts(const DemonstrationConfig& config, int count);

struct SftSequence {
  std::vector<std::int32_t> ids;
  std::vector<std::uint8_t> trained;  // 1: trained, including the end-of-turn token
  std::vector<std::array<std::int32_t, 3>> positions;
  std::vector<std::shared_ptr<const PatchedImage>> images;
  std::vector<std::vector<SceneObject>> scenes;
};
// Whether a sampled text can be part of a demonstration: it holds no special token (of a turn, of a picture) except the
// one that ends it.
bool can_be_shown(std::span<const std::int32_t> sampled, const ModelFolder& folder);

enum class TrainedScores { yes, no };  // no: the scores' digits are shown but not trained
SftSequence encode_demonstration(const Demonstration& demonstration, const ModelFolder& folder,
                                 TrainedScores scores = TrainedScores::yes);

}  // namespace agon::agents
