#include "cli/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agents/run_summary.h"
#include "core/statistics.h"
#include "core/text.h"
#include "env/box.h"
#include "env/gui_action.h"
#include "env/protocol.h"

namespace agon::cli {
namespace {

using agents::EpisodeOutcome;
using env::Episode;
using env::Turn;

constexpr std::size_t kCurvePoints = 200;

std::string base64(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j) three = three << 8 | (i + j < bytes.size() ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : kDigits[three >> (18 - 6 * j) & 63];
  }
  return text;
}

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
  if (episode.status == env::EpisodeStatus::failed) return "failed";
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

// A member of a turn's info if it has that type, else null.
Json info_member(const Turn& turn, const char* key, bool (Json::*is_type)() const noexcept) {
  if (!turn.info.is_object() || !turn.info.contains(key) || !(turn.info.at(key).*is_type)()) return {};
  return turn.info.at(key);
}

// The episodes that the page holds, and the pictures that they show, each once.
class Embedded {
 public:
  explicit Embedded(const ReportLimits& limits) : limits_(limits) {}

  void add(const Episode& episode) {
    if (episode.sample >= limits_.samples) return;
    const std::string index = std::to_string(episode.task_index);
    if (!tasks_.contains(index)) {
      if (tasks_.size() >= limits_.tasks || bytes_ >= limits_.bytes) return;
      tasks_[index] = task_of(episode);
    }
    Json turns = Json::array();
    for (const Turn& turn : episode.turns) turns.push_back(turn_of(turn, tasks_[index]["gold_box"].is_array()));
    episodes_.push_back({{"task", episode.task_index},
                         {"sample", episode.sample},
                         {"outcome", outcome_name(episode)},
                         {"failure", episode.failure},
                         {"reward", episode.reward},
                         {"score", episode.score ? Json(*episode.score) : Json()},
                         {"answer", episode.answer ? Json(*episode.answer) : Json()},
                         {"turns", std::move(turns)}});
  }

  void move_into(Json& data) {
    data["embedded_tasks"] = tasks_.size();
    data["embedded_samples"] = limits_.samples;
    data["tasks"] = std::move(tasks_);
    data["episodes"] = std::move(episodes_);
    data["images"] = std::move(images_);
  }

 private:
  static Json task_of(const Episode& episode) {
    const std::string gold = gold_text(episode.gold);
    return {{"id", episode.task_id},    {"level", episode.level}, {"kind", episode.kind},
            {"prompt", episode.prompt}, {"gold", gold},           {"gold_box", corners(env::parse_box(gold))}};
  }

  Json turn_of(const Turn& turn, bool answer_is_box) {
    Json parts = Json::array(), components = Json::object();
    for (const Part& part : turn.observation.parts)
      parts.push_back(part.is_image() ? Json{{"image", add_image(part.image)}} : Json{{"text", part.text}});
    for (const auto& [name, value] : turn.reward.components) components[name] = value;
    bytes_ += turn.text.size();
    const std::string answer = env::extract_answer(turn.text).value_or(turn.text);
    return {{"parts", std::move(parts)},
            {"segments", segments_of(turn.text)},
            {"tokens", turn.token_ids.size()},
            {"finish", turn.finish_reason},
            {"reward", turn.reward.total},
            {"components", std::move(components)},
            {"step_correct", info_member(turn, "step_correct", &Json::is_boolean)},
            {"error", info_member(turn, "error", &Json::is_string)},
            {"box", answer_is_box ? corners(env::parse_box(answer)) : Json()},
            {"point", point_of(answer)}};
  }

  std::string add_image(const Image& image) {
    std::string hash = image.hash().hex();
    if (images_.contains(hash)) return hash;
    std::string png = base64(encode_image(image, ImageFormat::png));
    bytes_ += png.size();
    images_[hash] = Json::array({image.width(), image.height(), std::move(png)});
    return hash;
  }

  const ReportLimits limits_;
  std::size_t bytes_ = 0;
  Json tasks_ = Json::object(), episodes_ = Json::array();
  std::map<std::string, Json> images_;
};

Json groups_json(const std::vector<agents::GroupAccuracy>& groups) {
  Json all = Json::array();
  for (const agents::GroupAccuracy& group : groups)
    all.push_back({{"name", group.name},
                   {"tasks", group.tasks},
                   {"greedy", group.greedy},
                   {"pass_at_1", group.pass_at_1},
                   {"interval", {group.pass_at_1_interval.low, group.pass_at_1_interval.high}}});
  return all;
}

void add_score_curves(const std::vector<EpisodeOutcome>& outcomes, Json& data) {
  std::vector<double> scores;
  std::vector<int> labels;
  for (const EpisodeOutcome& outcome : outcomes) {
    if (outcome.failed || outcome.sample == env::kGreedySample || !outcome.score) continue;
    scores.push_back(*outcome.score);
    labels.push_back(outcome.success);
  }
  data["roc"] = Json::array();
  const std::vector<CurvePoint> curve = roc_curve(scores, labels);
  const std::size_t stride = curve.size() / kCurvePoints + 1;
  for (std::size_t i = 0; i < curve.size(); ++i)
    if (i % stride == 0 || i + 1 == curve.size()) data["roc"].push_back({curve[i].x, curve[i].y});
  const std::vector<ReliabilityBin> bins = reliability(scores, labels);
  data["reliability"] = Json::array();
  for (const ReliabilityBin& bin : bins)
    data["reliability"].push_back({{"low", bin.low},
                                   {"high", bin.high},
                                   {"count", bin.count},
                                   {"mean_score", bin.mean_score},
                                   {"accuracy", bin.accuracy}});
  data["ece"] = expected_calibration_error(bins);
}

}  // namespace

Json report_data(const env::RunReader& run, const std::string& title, const ReportLimits& limits) {
  std::vector<EpisodeOutcome> outcomes;
  Embedded embedded(limits);
  run.for_each(
      [&](const Episode& episode) {
        outcomes.push_back(agents::outcome_of(episode));
        embedded.add(episode);
      },
      env::RunReader::Detail::whole);
  const Json config = run.config();
  const auto seed = config.value("seed", std::uint64_t{0});
  Json data;
  data["title"] = title;
  data["config"] = config;
  data["complete"] = !run.summary().is_null();
  data["summary"] = agents::summarize(config, outcomes, run.seconds());
  data["levels"] = groups_json(
      agents::accuracy_by(outcomes, seed, [](const EpisodeOutcome& one) { return fmt::format("{}", one.level); }));
  data["kinds"] = groups_json(agents::accuracy_by(outcomes, seed, [](const EpisodeOutcome& one) { return one.kind; }));
  add_score_curves(outcomes, data);
  data["episodes_total"] = outcomes.size();
  embedded.move_into(data);
  return data;
}

}  // namespace agon::cli
