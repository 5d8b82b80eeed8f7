#include "cli/tables/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agents/run_summary.h"
#include "agents/run_summary_table.h"
#include "cli/printed_json.h"
#include "cli/task_name.h"
#include "core/error.h"
#include "core/pictures/video_json.h"
#include "core/provenance.h"
#include "core/text.h"
#include "critic/search/summary.h"
#include "record/run_kind.h"

namespace agon::cli {
namespace {

using record::Episode;
using record::RunKind;

constexpr const char* kRunIncomplete =
    "THE RUN IS NOT COMPLETE: these figures cover the episodes finished so far, and short ones finish first.\n\n";
constexpr const char* kTrainingIncomplete = "THE TRAINING IS NOT COMPLETE.\n\n";
constexpr int kShownAdvantages = 20;  // runs of equal advantages per turn

std::string sample_name(int sample) {
  return sample == record::kGreedySample ? "greedy" : fmt::format("sample {}", sample);
}

std::string outcome_name(const Episode& episode) {
  if (episode.status == record::EpisodeStatus::failed) return "failed: " + printable(episode.failure);
  return episode.success ? "right" : "wrong";
}

std::string gold_text(const Json& gold) { return gold.is_string() ? gold.get<std::string>() : gold.dump(); }

template <typename T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json outcome_json(const Episode& episode) {
  return {{"task_index", episode.task_index},
          {"sample", episode.sample},
          {"step", json_or_null(episode.train_step)},
          {"task_id", episode.task_id},
          {"level", episode.level},
          {"kind", episode.kind},
          {"status", episode.status == record::EpisodeStatus::done ? "done" : "failed"},
          {"failure", episode.failure.empty() ? Json() : Json(episode.failure)},
          {"success", episode.success},
          {"reward", episode.reward},
          {"answer", json_or_null(episode.answer)},
          {"score", json_or_null(episode.score)}};
}

Json part_json(const Part& part) {
  const auto named = [](const Image& image) { return image.hash().hex(); };
  if (part.is_text()) return {{"text", part.text}};
  const Image& image = part.is_video() ? part.video->frames.front() : part.image;
  Json json{{"width", image.width()}, {"height", image.height()}};
  if (part.is_video())
    json["video"] = video_json(*part.video, named);
  else
    json["image"] = named(image);
  return json;
}

Json observation_json(const env::Observation& observation) {
  Json parts = Json::array();
  for (const Part& part : observation.parts) parts.push_back(part_json(part));
  return parts;
}

std::string part_text(const Part& part) {
  if (part.is_text()) return printable(part.text);
  if (part.is_image()) return fmt::format("[picture {} x {}]", part.image.width(), part.image.height());
  const Image& frame = part.video->frames.front();
  return fmt::format("[video of {} frames, {} x {}]", part.video->frames.size(), frame.width(), frame.height());
}

std::string observation_text(const env::Observation& observation) {
  std::string text;
  for (const Part& part : observation.parts) text += part_text(part) + '\n';
  return text;
}

// "called python: ok, 0.012 s, 345 bytes", one line per call of the turn.
std::string calls_text(const record::Turn& turn) {
  std::string text;
  for (const env::ToolAttempt& call : turn.facts.tool_calls)
    text += fmt::format("called {}: {}, {:.3f} s, {} bytes\n", printable(call.tool), printable(call.outcome),
                        call.seconds, call.bytes);
  return text;
}

// One task as `agon show RUN` prints it.
struct TaskLine {
  std::string id, kind, prompt, greedy = "-";
  int right = 0, samples = 0, failed = 0;

  void add(const Episode& episode) {
    id = own_id(episode.task_id);
    kind = episode.kind;
    prompt = episode.prompt;
    if (episode.status == record::EpisodeStatus::failed) {
      ++failed;
    } else if (episode.sample == record::kGreedySample) {
      greedy = episode.success ? "right" : "wrong";
    } else {
      ++samples;
      right += episode.success;
    }
  }
};

Json credit_json(const record::TurnCredit& credit) {
  if (credit == record::TurnCredit{}) return {};
  return {{"token_bytes", credit.token_bytes},
          {"advantage", credit.advantage},
          {"weight", credit.weight},
          {"kl", credit.kl}};
}

// One line, cut to `columns` characters of UTF-8.
std::string shortened(std::string text, std::size_t columns) {
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end)
    if (!is_within_character(text[end]) && ++seen > columns) break;
  return end == text.size() ? text : text.substr(0, end) + "...";
}

// "+0.53 x 41, -0.2 x 6": the advantages of consecutive tokens; the first `runs` of them.
std::string advantages_text(const std::vector<float>& advantages, int runs) {
  std::string text;
  for (auto begin = advantages.begin(); begin != advantages.end(); --runs) {
    if (runs == 0) return text + ", ...";
    const auto end = std::find_if(begin, advantages.end(), [&](float value) { return value != *begin; });
    text += fmt::format("{}{:+.3g} x {}", text.empty() ? "" : ", ", *begin, end - begin);
    begin = end;
  }
  return text;
}

constexpr std::size_t kKindColumns = 16, kIdColumns = 24, kPromptColumns = 70;

// One line each. with_ids: the ids come from a task file.
std::string tasks_text(const std::map<std::uint64_t, TaskLine>& tasks, bool with_ids) {
  if (tasks.empty()) return {};
  const std::size_t width = std::max<std::size_t>(6, std::to_string(tasks.rbegin()->first).size());
  const auto shown_id = [](const std::string& id) { return shortened(printable(id), kIdColumns); };
  std::size_t id_width = 2;
  for (const auto& [index, task] : tasks) id_width = std::max(id_width, shown_id(task.id).size());
  const auto id_cell = [&](const std::string& id) {
    return with_ids ? fmt::format("{:<{}}  ", shown_id(id), id_width) : "";
  };
  std::string text = fmt::format("\n{:>{}}  {}{:<16} {:<6} {:>7}  {}\n", "task", width, id_cell("id"), "kind", "greedy",
                                 "samples", "prompt");
  for (const auto& [index, task] : tasks) {
    text +=
        fmt::format("{:>{}}  {}{:<16} {:<6} {:>7}  {}", index, width, id_cell(task.id),
                    shortened(printable(task.kind), kKindColumns), task.greedy,
                    fmt::format("{}/{}", task.right, task.samples), shortened(printable(task.prompt), kPromptColumns));
    text += task.failed > 0 ? fmt::format("  ({} failed)\n", task.failed) : "\n";
  }
  return text;
}

// Each metric of a training run at its first and its last step.
std::string metrics_text(const std::map<std::string, record::Curve>& metrics) {
  std::string text = fmt::format("{:<36} {:>12} {:>12}\n", "metric", "first", "last");
  for (const auto& [name, curve] : metrics)
    text += fmt::format("{:<36} {:>12.4g} {:>12.4g}\n", printable(name), curve.front().second, curve.back().second);
  return text;
}

struct RunContent {
  agents::RunSummary summary;
  std::vector<Episode> episodes;  // without turns
};

RunContent read_run(const record::RunReader& run) {
  RunContent content;
  std::vector<agents::EpisodeOutcome> outcomes;
  run.for_each(
      [&](const Episode& episode) {
        outcomes.push_back(agents::outcome_of(episode));
        content.episodes.push_back(episode);
        content.episodes.back().turns.clear();
      },
      record::RunReader::Detail::without_images);
  content.summary = agents::summarize(run.config(), outcomes, run.seconds());
  content.summary.verified = agents::verified_in(run.summary());
  return content;
}

}  // namespace

std::string run_text(const record::RunReader& run) {
  const RunKind kind = record::run_kind_of(run.config());
  if (kind == RunKind::preferences)
    throw Error(
        "show: this run holds preferences and no episodes. `agon report` draws them; --json prints its figures.");
  const RunContent content = read_run(run);
  std::map<std::uint64_t, TaskLine> tasks;
  for (const Episode& episode : content.episodes) tasks[episode.task_index].add(episode);
  const std::map<std::string, record::Curve> metrics = run.metrics();
  std::string text = kind == RunKind::search ? critic::search_table(critic::summarize_searches(run))
                     : metrics.empty()       ? agents::summary_table(content.summary)
                                             : metrics_text(metrics);
  if (const std::string made = provenance_text(run.config().value(kProvenance, Json())); !made.empty())
    text += "made by " + printable_line(made) + "\n";
  if (run.summary().is_null()) text = (metrics.empty() ? kRunIncomplete : kTrainingIncomplete) + text;
  return text + tasks_text(tasks, run.config().contains("file"));
}

Json run_json(const record::RunReader& run) {
  const RunContent content = read_run(run);
  Json episodes = Json::array();
  for (const Episode& episode : content.episodes) episodes.push_back(outcome_json(episode));
  Json json{{"config", run.config()}, {"complete", !run.summary().is_null()}, {"episodes", std::move(episodes)}};
  const std::map<std::string, record::Curve> metrics = run.metrics();
  const RunKind kind = record::run_kind_of(run.config());
  if (kind == RunKind::search)
    json["summary"] = printed_search(to_json(critic::summarize_searches(run)));
  else if (kind == RunKind::preferences)
    json["summary"] = printed_preferences(run.summary());
  else if (metrics.empty())
    json["summary"] = printed_figures(to_json(content.summary));
  else
    json["metrics"] = metrics;
  return json;
}

std::string episode_text(const Episode& episode) {
  const std::string step = episode.train_step ? fmt::format(", training step {}", *episode.train_step) : "";
  std::string text = fmt::format("{}, {}{}: {}\n", printable_line(episode.task_id), sample_name(episode.sample), step,
                                 outcome_name(episode));
  for (std::size_t i = 0; i < episode.turns.size(); ++i) {
    const record::Turn& turn = episode.turns[i];
    text += fmt::format("\n--- turn {}: what the policy saw ---\n{}", i + 1, observation_text(turn.observation));
    text += fmt::format("--- turn {}: what it wrote ({} tokens{}) ---\n{}\n", i + 1, turn.tokens(),
                        turn.finish_reason == "length" ? ", cut at the limit" : "", printable(turn.text));
    text += calls_text(turn);
    if (turn.facts.turn_correct) text += *turn.facts.turn_correct ? "(a right answer)\n" : "(a wrong answer)\n";
    if (turn.full_context) text += "(what follows is longer than the policy's context: the episode ends here)\n";
    if (!turn.credit.advantage.empty())
      text += fmt::format("advantage of its tokens: {}\n", advantages_text(turn.credit.advantage, kShownAdvantages));
    if (turn.facts.refused) text += fmt::format("refused: {}\n", printable(*turn.facts.refused));
  }
  text += fmt::format("\ngold    {}\nanswer  {}\nreward  {:.3f}", printable(gold_text(episode.gold)),
                      episode.answer ? printable(*episode.answer) : "none", episode.reward);
  if (!episode.turns.empty())
    for (const auto& [name, value] : episode.turns.back().reward.components)
      text += fmt::format("  {} {:.3f}", printable(name), value);
  return text + fmt::format("\nscore   {}\n", episode.score ? fmt::format("{:.3f}", *episode.score) : "none");
}

Json episode_json(const Episode& episode) {
  Json json = outcome_json(episode);
  json["prompt"] = episode.prompt;
  json["gold"] = episode.gold;
  json["truncated"] = episode.truncated;
  json["seconds"] = episode.seconds;
  json["turns"] = Json::array();
  for (const record::Turn& turn : episode.turns) {
    Json components = Json::object();
    for (const auto& [name, value] : turn.reward.components) components[name] = value;
    json["turns"].push_back({{"observation", observation_json(turn.observation)},
                             {"text", turn.text},
                             {"token_ids", turn.token_ids},
                             {"logprobs", turn.logprobs},
                             {"credit", credit_json(turn.credit)},
                             {"finish_reason", turn.finish_reason},
                             {"prompt_tokens", turn.prompt_tokens},
                             {"reward", turn.reward.total},
                             {"reward_components", std::move(components)},
                             {"info", record::info_of(turn)}});
  }
  return json;
}

}  // namespace agon::cli
