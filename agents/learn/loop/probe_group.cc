#include "agents/learn/loop/probe_group.h"

#include <algorithm>
#include <map>
#include <span>

#include "agents/learn/data/train_rollout.h"
#include "core/error.h"
#include "env/grading/box_text.h"

namespace agon::agents {
namespace {

std::string answer_text(const Json& gold, const std::string& task) {
  if (gold.is_string()) return gold.get<std::string>();
  if (gold.is_number()) return gold.dump();
  const bool box = gold.is_array() && gold.size() == 4 &&
                   std::all_of(gold.begin(), gold.end(), [](const Json& side) { return side.is_number(); });
  if (!box)
    throw Error("probes: the gold answer of {} is {}: not a text, number or box. Steps are probed with one answer.",
                task, gold.dump());
  return env::format_box({gold[0], gold[1], gold[2], gold[3]});
}

// Changes the pictures of a group, each once; they are found by the hash of their pixels.
class PictureChanger {
 public:
  PictureChanger(const TrainGroup& group, const ModelFolder& folder, const ProbeSettings& settings)
      : folder_(folder), settings_(settings) {
    for (const record::Episode& episode : group.episodes)
      for (const record::Turn& turn : episode.turns)
        for (const Part& part : turn.observation.parts)
          if (part.is_image()) pictures_.emplace(part.image.hash().hex(), part.image);
  }

  PatchedImages changed(const PatchedImages& images) {
    PatchedImages result;
    for (const auto& image : images) result.push_back(changed(*image));
    return result;
  }

 private:
  std::shared_ptr<const PatchedImage> changed(const PatchedImage& image) {
    const std::string key = image.hash.hex();
    const auto picture = pictures_.find(key);
    if (picture == pictures_.end())
      throw Error("probes: a task shows a video, and only pictures can be changed. Leave the visual probes out.");
    auto& known = changed_[key];
    if (!known)
      known = std::make_shared<const PatchedImage>(
          process_image(changed_picture(picture->second, settings_.change, settings_.seed), folder_.images));
    return known;
  }

  const ModelFolder& folder_;
  const ProbeSettings& settings_;
  std::map<std::string, Image> pictures_;
  std::map<std::string, std::shared_ptr<const PatchedImage>> changed_;
};

bool thinking(const std::string& text) {
  const std::size_t open = text.rfind("<think>"), close = text.rfind("</think>");
  return open != std::string::npos && (close == std::string::npos || close < open);
}

std::vector<ProbedStep> steps_of(const TrainRollout& rollout, const Tokenizer& tokenizer, const std::string& suffix) {
  std::vector<ProbedStep> steps;
  int at = 0;
  for (const CreditSegment& segment : rollout.segments) {
    const int begin = at;
    at += segment.tokens;
    if (segment.kind != env::SegmentKind::think && segment.kind != env::SegmentKind::step) continue;
    const int turn = rollout.turn_begins[static_cast<std::size_t>(segment.turn)];
    const std::string text = tokenizer.decode(
        std::span(rollout.response.ids).subspan(static_cast<std::size_t>(turn), static_cast<std::size_t>(at - turn)),
        true, TextPlace::within);
    steps.push_back(
        {begin, at, tokenizer.encode((thinking(text) ? "</think>" : "") + suffix, false, TextPlace::within)});
  }
  return steps;
}

}  // namespace

ProbeGroup make_probe_group(const TrainGroup& group, const ModelFolder& folder, const ProbeSettings& settings) {
  const record::Episode& first = group.episodes.front();
  PictureChanger pictures(group, folder, settings);
  const auto changed = [&](const PatchedImages& images) {
    return settings.visual ? pictures.changed(images) : PatchedImages();
  };
  ProbeGroup result;
  result.prompt = group.prompt;
  result.changed_images = changed(group.prompt.images);
  result.suffix = folder.tokenizer->encode(settings.suffix, false, TextPlace::within);
  result.answer = folder.tokenizer->encode(answer_text(first.gold, first.task_id), false, TextPlace::within);
  if (result.answer.empty())
    throw Error("probes: the gold answer of {} is empty. Steps are probed with one answer.", first.task_id);
  for (const TrainRollout& rollout : group.rollouts)
    result.rollouts.push_back(
        {rollout.response, changed(rollout.response.images), steps_of(rollout, *folder.tokenizer, settings.suffix)});
  return result;
}

}  // namespace agon::agents
