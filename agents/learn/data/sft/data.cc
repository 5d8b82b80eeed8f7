#include "agents/learn/data/sft/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "env/protocol.h"
#include "env/suite.h"
#include "env/verdict.h"
#include "env/wrappers/sneaky_role.h"

namespace agon::agents {
namespace {

using env::Tag;

std::vector<SceneObject> scene_of(const Json& info, const Image& picture, const std::vector<std::string>& classes) {
  std::vector<SceneObject> scene;
  if (!info.contains("objects")) return scene;
  const auto width = static_cast<float>(picture.width()), height = static_cast<float>(picture.height());
  for (const Json& object : info["objects"]) {
    const auto found = std::lower_bound(classes.begin(), classes.end(), object["name"].get<std::string>());
    if (found == classes.end() || *found != object["name"].get<std::string>()) continue;
    const Json& box = object["box"];
    scene.push_back({static_cast<int>(found - classes.begin()), box[0].get<float>() / width,
                     box[1].get<float>() / height, box[2].get<float>() / width, box[3].get<float>() / height});
  }
  return scene;
}

void add_observation(Demonstration& to, const env::StepResult& result, const std::vector<std::string>& classes) {
  to.messages.push_back({Role::user, result.observation.parts, {}, {}});
  for (const Part& part : result.observation.parts)
    if (part.is_image()) to.scenes.push_back(scene_of(result.info, part.image, classes));
}

// Turns `action` into a wrong one after which the episode continues and the expert can still solve it. False: there is
// no such action; nothing changed.
bool take_detour(const env::Env& env, env::Action& action, Rng& rng) {
  constexpr env::ErrorKind kDetours[] = {env::ErrorKind::wrong_object, env::ErrorKind::misread_value};
  const auto wrong = env.corrupt_step({{}, action.text}, kDetours[rng.between(0, 1)], rng);
  if (!wrong) return false;
  const std::unique_ptr<env::Env> trial = env.fork();
  const env::StepResult after = trial->step({*wrong, {}});
  if (after.terminated || after.truncated || after.refused.has_value()) return false;
  const auto way = trial->demonstrate(rng);
  if (!way || way->empty()) return false;
  action.text = *wrong;
  return true;
}

// Marks the tokens between "<|im_start|>assistant\n" and the token that ends the turn, that token included, in the
// trained turns.
std::vector<std::uint8_t> assistant_mask(const std::vector<std::int32_t>& ids, const std::vector<bool>& trained,
                                         const ModelFolder& folder) {
  const std::vector<std::int32_t> opening = folder.tokenizer->encode("<|im_start|>assistant\n", true);
  const std::vector<std::int32_t>& ends = folder.config.eos_token_ids;
  std::vector<std::uint8_t> mask(ids.size(), 0);
  auto at = ids.begin();
  for (const bool turn_trained : trained) {
    at = std::search(at, ids.end(), opening.begin(), opening.end()) + std::ssize(opening);
    const auto stop = std::find_first_of(at, ids.end(), ends.begin(), ends.end()) + 1;
    std::fill(mask.begin() + (at - ids.begin()), mask.begin() + (stop - ids.begin()),
              static_cast<std::uint8_t>(turn_trained));
    at = stop;
  }
  return mask;
}

// The digit of a score is the token before its closing tag.
void skip_scores(SftSequence& sequence, const Tokenizer& tokenizer) {
  const std::int32_t closing = tokenizer.id_of("</score>").value();
  for (std::size_t i = 1; i < sequence.ids.size(); ++i)
    if (sequence.ids[i] == closing) sequence.trained[i - 1] = 0;
}

bool is_whole_turn(const std::string& action) {
  for (const Tag tag : {Tag::think, Tag::search, Tag::code, Tag::problem})
    if (env::first_tag(action, tag)) return true;
  return env::parse_verdict(action).verdict != env::StepVerdict::invalid || env::parse_sneaky(action).fault.empty();
}

}  // namespace

std::string scored_answer(const std::string& action, Rng& rng) {
  if (is_whole_turn(action)) return action;
  const std::string answered = env::first_tag(action, Tag::answer) ? action : env::wrap(Tag::answer, action);
  return answered + env::wrap(Tag::score, fmt::format("0.{}", rng.between(1, 9)));
}

Demonstration demonstrate_task(env::Env& env, const std::string& instructions, const std::vector<std::string>& classes,
                               const DemonstrationOptions& options, Rng& rng) {
  Demonstration result;
  if (!instructions.empty()) result.messages.push_back(Message::of(Role::system, instructions));
  env::StepResult state = env.reset({env::Split::train, options.index, options.seed});
  for (bool over = false; !over;) {
    add_observation(result, state, classes);
    const auto actions = env.demonstrate(rng);
    if (!actions || actions->empty()) throw Error("train-sft: task {} has no expert to learn from", env.task().id);
    env::Action action = actions->front();
    if (options.first_answer && result.trained.empty()) {
      action.text = options.first_answer->text();
      result.messages.push_back(*options.first_answer);
      result.trained.push_back(false);
    } else {
      const bool detour = rng.chance(options.detours) && take_detour(env, action, rng);
      result.messages.push_back(Message::of(Role::assistant, scored_answer(action.text, rng)));
      result.trained.push_back(!detour);
    }
    state = env.step(action);
    over = state.terminated || state.truncated;
  }
  return result;
}

std::vector<std::string> object_classes(const std::vector<SftSource>& sources) {
  std::set<std::string> classes;
  for (const SftSource& source : sources) {
    const env::SuiteInfo& info = source.suite.info();
    classes.insert(info.object_classes.begin(), info.object_classes.end());
  }
  return {classes.begin(), classes.end()};
}

std::vector<std::string> demonstration_texts(const DemonstrationConfig& config, int count) {
  std::vector<std::string> texts;
  Rng rng = Rng::derive(config.seed, "tokenizer");
  for (const SftSource& source : config.sources) {
    const auto env = source.suite.make_env();
    const std::string& instructions = source.suite.info().instructions;
    for (int i = 0; i < count; ++i)
      for (const Message& message :
           demonstrate_task(*env, instructions, {}, {config.seed, static_cast<std::uint64_t>(i), 0}, rng).messages)
        texts.push_back(message.text());
  }
  return texts;
}

bool can_be_shown(std::span<const std::int32_t> sampled, const ModelFolder& folder) {
  const std::vector<std::int32_t>& ends = folder.config.eos_token_ids;
  if (!sampled.empty() && std::ranges::find(ends, sampled.back()) != ends.end())
    sampled = sampled.first(sampled.size() - 1);
  return std::ranges::none_of(sampled, [&](std::int32_t id) { return folder.tokenizer->is_special(id); });
}

SftSequence encode_demonstration(const Demonstration& demonstration, const ModelFolder& folder, TrainedScores scores) {
  SftSequence sequence;
  std::vector<Message> messages = demonstration.messages;
  const std::string last = messages.back().text();
  messages.pop_back();
  EncodedPrompt prompt = encode_prompt(messages, {}, folder.chat, *folder.tokenizer, folder.images, folder.config);
  sequence.ids = std::move(prompt.ids);
  for (std::int32_t id : folder.tokenizer->encode(last, false, TextPlace::within)) sequence.ids.push_back(id);
  sequence.ids.push_back(folder.config.eos_token_ids.front());
  sequence.trained = assistant_mask(sequence.ids, demonstration.trained, folder);
  if (scores == TrainedScores::no) skip_scores(sequence, *folder.tokenizer);
  std::vector<ImageGrid> grids;
  for (const auto& image : prompt.images) grids.push_back(image->grid);
  std::int32_t next = 0;
  sequence.positions = mrope_positions(sequence.ids, grids, folder.config, &next);
  sequence.images = std::move(prompt.images);
  sequence.scenes = demonstration.scenes;
  return sequence;
}

}  // namespace agon::agents
