#include "cli/report/training.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "env/protocol.h"

namespace agon::cli {
namespace {

using record::Curve;
using record::Turn;

// Few digits keep the page small; more would not be visible.
Json rounded(double value, int digits) {
  if (!std::isfinite(value)) return {};
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits).ptr;
  std::from_chars(text.data(), end, value);
  return value;
}

// ---- curves ----

void add_figures(const Json& figures, const std::string& prefix, std::int64_t step,
                 std::map<std::string, Curve>& metrics) {
  for (const auto& [name, value] : figures.items()) {
    if (value.is_object()) add_figures(value, prefix + name + "/", step, metrics);
    if (value.is_number() && prefix + name != "step") metrics[prefix + name].emplace_back(step, value.get<double>());
  }
}

// The place of a group in the page.
std::size_t rank_of(std::string_view group) {
  static constexpr std::array<std::string_view, 4> kFirst{"eval", "reward", "score", "policy"};
  static constexpr std::array<std::string_view, 4> kLast{"length", "groups", "speed", "time"};
  const std::string_view root = group.substr(0, group.find('/'));
  for (std::size_t i = 0; i < kFirst.size(); ++i)
    if (root == kFirst[i]) return i;
  for (std::size_t i = 0; i < kLast.size(); ++i)
    if (root == kLast[i]) return kFirst.size() + 1 + i;
  return kFirst.size();
}

// Means of `stride` values each, those that are defined.
std::vector<std::pair<std::int64_t, Json>> thinned(const Curve& curve, std::size_t stride) {
  std::vector<std::pair<std::int64_t, Json>> points;
  for (std::size_t begin = 0; begin < curve.size(); begin += stride) {
    const std::size_t end = std::min(begin + stride, curve.size());
    double sum = 0, defined = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(curve[i].second)) continue;
      sum += curve[i].second;
      defined += 1;
    }
    points.emplace_back(curve[end - 1].first, rounded(sum / defined, 5));
  }
  return points;
}

Json values_of(const Curve& curve, std::size_t stride) {
  Json values = Json::array();
  for (auto& [step, value] : thinned(curve, stride)) values.push_back(std::move(value));
  return values;
}

bool same_steps(const Curve& a, const Curve& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& one, const auto& other) { return one.first == other.first; });
}

// The curve of that name if it has a value at every step of `curve`.
const Curve* beside(const std::map<std::string, Curve>& metrics, const std::string& name, const Curve& curve) {
  const auto found = metrics.find(name);
  return found != metrics.end() && same_steps(found->second, curve) ? &found->second : nullptr;
}

bool has_interval(const std::map<std::string, Curve>& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  return found != metrics.end() && beside(metrics, name + "_low", found->second) != nullptr &&
         beside(metrics, name + "_high", found->second) != nullptr;
}

bool is_interval_end(const std::map<std::string, Curve>& metrics, const std::string& name) {
  for (const std::string_view end : {"_low", "_high"})
    if (name.ends_with(end) && has_interval(metrics, name.substr(0, name.size() - end.size()))) return true;
  return false;
}

// ---- tokens ----

// One value per token, or a single one if all are equal.
Json column(const std::vector<float>& values) {
  if (std::all_of(values.begin(), values.end(), [&](float value) { return value == values.front(); }))
    return values.empty() ? Json() : rounded(values.front(), 4);
  Json column = Json::array();
  for (const float value : values) column.push_back(rounded(value, 4));
  return column;
}

bool credit_fits(const Turn& turn) {
  const record::TurnCredit& credit = turn.credit;
  const std::size_t tokens = turn.token_ids.size();
  for (const std::size_t size :
       {credit.token_bytes.size(), credit.advantage.size(), credit.weight.size(), credit.kl.size()})
    if (size != tokens) return false;
  return tokens > 0 &&
         std::accumulate(credit.token_bytes.begin(), credit.token_bytes.end(), std::size_t{0}) == turn.text.size();
}

// The end of each token in the turn's text, in bytes; for an end inside a character the start of the character.
std::vector<std::size_t> token_ends(const Turn& turn) {
  std::vector<std::size_t> ends;
  std::size_t written = 0;
  for (const std::size_t bytes : turn.credit.token_bytes) {
    written += bytes;
    std::size_t end = written;
    while (end > 0 && end < turn.text.size() && is_within_character(turn.text[end])) --end;
    ends.push_back(end);
  }
  return ends;
}

// ---- which episodes ----

struct Group {
  std::uint64_t task = 0;
  std::vector<int> samples;
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
};

std::map<std::int64_t, std::vector<Group>> groups_by_step(const record::RunReader& run) {
  std::map<std::int64_t, std::vector<Group>> steps;
  run.for_each(
      [&](const record::Episode& episode) {
        if (!episode.train_step) return;
        std::vector<Group>& groups = steps[*episode.train_step];
        if (groups.empty() || groups.back().task != episode.task_index) groups.push_back({episode.task_index, {}});
        Group& group = groups.back();
        group.samples.push_back(episode.sample);
        group.least = std::min(group.least, episode.reward);
        group.most = std::max(group.most, episode.reward);
      },
      record::RunReader::Detail::without_turns);
  for (auto& [step, groups] : steps)
    std::stable_partition(groups.begin(), groups.end(), [](const Group& group) { return group.least < group.most; });
  return steps;
}

// `count` of the values, evenly spread, always including the last one.
template <typename Value>
std::vector<Value> spread(const std::vector<Value>& all, std::size_t count) {
  if (all.size() <= count) return all;
  std::vector<Value> chosen;
  for (std::size_t i = 1; i <= count; ++i)
    chosen.push_back(all[count == 1 ? all.size() - 1 : (i - 1) * (all.size() - 1) / (count - 1)]);
  return chosen;
}

}  // namespace

Json curves_json(const std::map<std::string, Curve>& metrics, std::size_t most) {
  std::map<std::pair<std::size_t, std::string>, Json> groups;
  for (const auto& [name, curve] : metrics) {
    if (is_interval_end(metrics, name)) continue;
    const std::size_t slash = name.rfind('/'), stride = (curve.size() + most - 1) / most;
    const std::string group = slash == std::string::npos ? "" : name.substr(0, slash);
    Json metric{{"name", name.substr(slash + 1)}, {"stride", stride}, {"points", thinned(curve, stride)}};
    if (has_interval(metrics, name))
      for (const char* end : {"low", "high"}) metric[end] = values_of(metrics.at(name + "_" + end), stride);
    groups[{rank_of(group), group}].push_back(std::move(metric));
  }
  Json list = Json::array();
  for (auto& [key, curves] : groups) list.push_back({{"name", key.second}, {"metrics", std::move(curves)}});
  return list;
}

std::map<std::string, Curve> logged_metrics(const std::filesystem::path& log) {
  std::map<std::string, Curve> metrics;
  const std::vector<std::string> lines = split(read_file(log.string()), "\n");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Json figures = Json::parse(lines[i], nullptr, false);
    const bool whole = figures.is_object() && figures.contains("step") && figures["step"].is_number_integer();
    if (!whole && i + 1 == lines.size()) break;
    if (!whole) throw Error("{}, line {}: not the figures of a step. Remove the line.", log.string(), i + 1);
    add_figures(figures, "", figures["step"], metrics);
  }
  return metrics;
}

Json credit_json(const Turn& turn) {
  if (!credit_fits(turn)) return {};
  return {{"advantage", column(turn.credit.advantage)},
          {"weight", column(turn.credit.weight)},
          {"kl", column(turn.credit.kl)},
          {"logprob", turn.logprobs.size() == turn.token_ids.size() ? column(turn.logprobs) : Json()}};
}

Json token_segments_json(const Turn& turn) {
  std::vector<env::Segment> parts = env::segment_turn(turn.text);
  if (parts.empty()) parts = {{env::SegmentKind::answer, -1, {}}};  // nothing but tokens without text
  const std::vector<std::size_t> ends = token_ends(turn);
  Json segments = Json::array();
  std::size_t token = 0;
  const auto begin_of = [&](std::size_t i) { return i == 0 ? 0 : ends[i - 1]; };
  for (const env::Segment& part : parts) {
    const bool last = &part == &parts.back();
    Json pieces = Json::array();
    const std::size_t first = token;
    for (; token < ends.size() && (begin_of(token) < part.span.end || last); ++token) {
      const std::size_t begin = std::max(begin_of(token), part.span.begin);
      pieces.push_back(turn.text.substr(begin, std::min(ends[token], part.span.end) - begin));
      if (ends[token] > part.span.end) break;  // the rest of it is in the next segment
    }
    segments.push_back(
        {{"kind", env::to_string(part.kind)}, {"step", part.step}, {"first", first}, {"pieces", pieces}});
  }
  return segments;
}

std::vector<EpisodeKey> chosen_episodes(const record::RunReader& run, std::size_t steps, std::size_t groups) {
  std::vector<std::vector<Group>> all;
  for (auto& [step, of_step] : groups_by_step(run)) all.push_back(std::move(of_step));
  const std::vector<std::vector<Group>> chosen = spread(all, steps);
  std::vector<EpisodeKey> keys;
  for (std::size_t i = 0; i < groups; ++i)
    for (const std::vector<Group>& of_step : chosen)
      if (i < of_step.size())
        for (const int sample : of_step[i].samples) keys.emplace_back(of_step[i].task, sample);
  return keys;
}

}  // namespace agon::cli
