#include "cli/report/episodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "cli/report/training.h"
#include "cli/tables/transcript.h"
#include "core/base64.h"
#include "core/text.h"
#include "env/grading/box.h"
#include "env/grading/box_text.h"
#include "env/grading/gui_action.h"
#include "env/protocol.h"

namespace agon::cli {
namespace {

using record::Episode;
using record::Turn;

constexpr std::size_t kTokenBytes = 24;  // estimated size of a token with its figures in the page

// A list of texts (the expert's actions) becomes lines.
std::string gold_text(const Json& gold) {
  if (gold.is_string()) return gold.get<std::string>();
  const auto is_text = [](const Json& item) { return item.is_string(); };
  if (!gold.is_array() || gold.empty() || !std::all_of(gold.begin(), gold.end(), is_text)) return gold.dump();
  std::string lines = gold.front();
  for (std::size_t i = 1; i < gold.size(); ++i) lines += fmt::format("\n{}", gold[i].get<std::string>());
  return lines;
}

Json corners(const std::optional<env::Box>& box) { return box ? Json{box->x1, box->y1, box->x2, box->y2} : Json(); }

const char* outcome_name(const Episode& episode) {
  if (episode.status == record::EpisodeStatus::failed) return "failed";
  return episode.success ? "right" : "wrong";
}

Json point_of(const std::string& answer) {
  const auto action = env::parse_gui_action(answer);
  const bool taps =
      action && (action->type == env::GuiActionType::click || action->type == env::GuiActionType::long_press);
  return taps ? Json{action->x, action->y} : Json();
}

Json segments_of(const std::string& text) {
  Json segments = Json::array();
  for (const env::Segment& segment : env::segment_turn(text)) {
    const std::string_view content = trim(segment.span.of(text));
    if (!content.empty())
      segments.push_back({{"kind", env::to_string(segment.kind)}, {"step", segment.step}, {"text", content}});
  }
  return segments;
}

template <typename Value>
Json value_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json calls_of(const Turn& turn) {
  Json calls = Json::array();
  for (const env::ToolAttempt& call : turn.facts.tool_calls)
    calls.push_back({{"tool", call.tool}, {"outcome", call.outcome}, {"seconds", call.seconds}, {"bytes", call.bytes}});
  return calls;
}

Json components_of(const env::Reward& reward) {
  Json components = Json::object();
  for (const auto& [name, value] : reward.components) components[name] = value;
  return components;
}

Json task_of(const Episode& episode) {
  const std::string gold = gold_text(episode.gold);
  return {{"id", episode.task_id},    {"level", episode.level}, {"kind", episode.kind},
          {"prompt", episode.prompt}, {"gold", gold},           {"gold_box", corners(env::parse_box(gold))}};
}

Json pictures_in(const Json& part) {
  if (part.contains("video")) return part.at("video").at("frames");
  return part.contains("image") ? Json::array({part.at("image")}) : Json::array();
}

}  // namespace

void ReportEpisodes::add(const Episode& episode) {
  Json& task = tasks_[std::to_string(episode.task_index)];
  if (task.is_null()) task = task_of(episode);
  Json turns = Json::array();
  for (const Turn& turn : episode.turns) turns.push_back(turn_of(turn, task["gold_box"].is_array()));
  episodes_.push_back({{"task", episode.task_index},
                       {"sample", episode.sample},
                       {"step", episode.train_step ? Json(*episode.train_step) : Json()},
                       {"outcome", outcome_name(episode)},
                       {"failure", episode.failure},
                       {"reward", episode.reward},
                       {"score", episode.score ? Json(*episode.score) : Json()},
                       {"answer", episode.answer ? Json(*episode.answer) : Json()},
                       {"turns", std::move(turns)}});
}

void ReportEpisodes::add_images(const record::RunReader& run, const Json& messages) {
  for (const Json& message : messages)
    for (const Json& part : message.at("parts"))
      for (const Json& name : pictures_in(part)) add_image(run.image(name.get<std::string>()));
}

void ReportEpisodes::move_into(Json& data) {
  data["tasks"] = std::move(tasks_);
  data["episodes"] = std::move(episodes_);
  data["images"] = std::move(images_);
}

Json ReportEpisodes::shown(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) {
    if (part.is_video()) {
      list.push_back({{"text", fmt::format("[video of {} frames]", part.video->frames.size())}});
      for (const Image& frame : part.video->frames) list.push_back({{"image", add_image(frame)}});
    } else {
      list.push_back(part.is_image() ? Json{{"image", add_image(part.image)}} : Json{{"text", part.text}});
    }
  }
  return list;
}

Json ReportEpisodes::turn_of(const Turn& turn, bool answer_is_box) {
  Json parts = shown(turn.observation.parts), credit = credit_json(turn);
  bytes_ += turn.text.size();
  if (!credit.is_null()) bytes_ += turn.token_ids.size() * kTokenBytes;
  const std::string answer = env::extract_answer(turn.text).value_or(turn.text);
  return {{"parts", std::move(parts)},
          {"segments", credit.is_null() ? segments_of(turn.text) : token_segments_json(turn)},
          {"credit", std::move(credit)},
          {"tokens", turn.tokens()},
          {"finish", turn.finish_reason},
          {"fills_context", turn.full_context.has_value()},
          {"reward", turn.reward.total},
          {"components", components_of(turn.reward)},
          {"step_correct", value_or_null(turn.facts.step_correct)},
          {"turn_correct", value_or_null(turn.facts.turn_correct)},
          {"error", value_or_null(turn.facts.refused)},
          {"calls", calls_of(turn)},
          {"box", answer_is_box ? corners(env::parse_box(answer)) : Json()},
          {"point", point_of(answer)}};
}

std::string ReportEpisodes::add_image(const Image& image) {
  std::string hash = image.hash().hex();
  if (images_.contains(hash)) return hash;
  std::string png = base64(image.png());
  bytes_ += png.size();
  images_[hash] = Json::array({image.width(), image.height(), std::move(png)});
  return hash;
}

}  // namespace agon::cli
