#include "cli/tables/search_tree.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "cli/printed_json.h"
#include "cli/tables/transcript.h"
#include "core/error.h"
#include "core/text.h"
#include "env/protocol.h"

namespace agon::cli {
namespace {

using critic::Node;

// A node and the decision about it.
std::pair<std::size_t, std::string> note_in(const record::JournalEntry& entry) {
  const Json node = entry.body.is_object() ? entry.body.value("node", Json()) : Json();
  const Json decision = entry.body.is_object() ? entry.body.value("decision", Json()) : Json();
  if (!node.is_number_unsigned() || !decision.is_string())
    throw Error(
        "entry {} (note) of the journal of task {} is damaged: it names no node and decision. Restore the run "
        "from a copy.",
        entry.number, entry.task_index);
  return {node.get<std::size_t>(), decision.get<std::string>()};
}

// The last decision about each node.
std::map<int, std::string> decisions_of(const std::vector<record::JournalEntry>& journal, std::size_t nodes) {
  std::map<int, std::string> decisions;
  for (const record::JournalEntry& entry : journal) {
    if (entry.kind != "note") continue;
    const auto [node, said] = note_in(entry);
    if (node >= nodes) continue;  // the tree was not played so far
    std::string& decision = decisions[static_cast<int>(node)];
    decision = said == "keep" && decision == "reject" ? "keep all the same" : said;
  }
  return decisions;
}

// The nodes on the path to the answer.
std::vector<bool> chosen_nodes(const critic::Replay& replay, const std::map<int, std::string>& decisions) {
  std::vector<bool> chosen(replay.nodes.size(), false);
  for (const auto& [node, decision] : decisions) {
    if (decision != "answer") continue;
    for (int at = node; at >= 0; at = replay.nodes.at(static_cast<std::size_t>(at)).parent)
      chosen[static_cast<std::size_t>(at)] = true;
  }
  return chosen;
}

// The number of equal siblings that each node represents; 0 for a node that repeats an earlier sibling, has no
// children, and was neither judged nor decided on.
std::vector<int> times_shown(const critic::Replay& replay, const std::map<int, std::string>& decisions) {
  std::set<int> leads;
  for (const Node& node : replay.nodes) leads.insert(node.parent);
  std::vector<int> times(replay.nodes.size(), 1);
  std::map<std::pair<int, std::string>, std::size_t> first;
  for (std::size_t i = 0; i < replay.nodes.size(); ++i) {
    const Node& node = replay.nodes[i];
    const auto number = static_cast<int>(i);
    const auto [at, is_new] = first.try_emplace({node.parent, node.text}, i);
    if (is_new || node.verdict || leads.contains(number) || decisions.contains(number)) continue;
    times[i] = 0;
    ++times[at->second];
  }
  return times;
}

Json node_json(const critic::Replay& replay, int number, const std::map<int, std::string>& decisions) {
  const Node& node = replay.nodes.at(static_cast<std::size_t>(number));
  Json json{{"node", number}, {"parent", node.parent < 0 ? Json() : Json(node.parent)}, {"text", trim(node.text)}};
  json["tokens"] = node.tokens;
  json["verdict"] = node.verdict ? Json(to_string(node.verdict->judgement)) : Json();
  json["probability"] = node.verdict && node.verdict->probability ? Json(*node.verdict->probability) : Json();
  json["critique"] = node.verdict ? Json(node.verdict->critique) : Json();
  const auto decision = decisions.find(number);
  json["decision"] = decision == decisions.end() ? Json() : Json(decision->second);
  const auto& label = replay.labels.at(static_cast<std::size_t>(number));
  json["label"] = label ? Json(label->correct) : Json();
  json["why"] = label ? Json(label->reason) : Json();
  json["ends_turn"] = node.ends_turn;
  json["reward"] = node.end ? Json(node.end->result.reward.total) : Json();
  json["success"] = node.end && node.end->result.success ? Json(*node.end->result.success) : Json();
  return json;
}

Json divergence_json(const critic::Replay& replay) {
  if (!replay.divergence) return nullptr;
  const critic::Divergence& divergence = *replay.divergence;
  return {{"entry", divergence.number},
          {"kind", divergence.kind},
          {"recorded", divergence.recorded},
          {"now", divergence.now}};
}

std::string mark_of(const Node& node) {
  if (node.cut) return "cut ";
  if (!node.verdict) return "    ";
  switch (node.verdict->judgement) {
    case critic::Judgement::correct:
      return "ok  ";
    case critic::Judgement::incorrect:
      return "BAD ";
    case critic::Judgement::invalid:
      return "??? ";
    default:
      return "-   ";
  }
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char letter : printable(trim(text))) line += letter == '\n' ? ' ' : letter;
  constexpr std::size_t kMost = 100;
  return line.size() > kMost ? valid_utf8(line.substr(0, kMost)) + "..." : line;
}

// The values of `one` that differ in `other`, without ids, log-probabilities and seconds.
Json differing(const Json& one, const Json& other) {
  if (one.is_array() && other.is_array() && one.size() == other.size()) {
    Json items = Json::array();
    for (std::size_t i = 0; i < one.size(); ++i)
      if (one[i] != other[i]) items.push_back(differing(one[i], other[i]));
    return items;
  }
  if (!one.is_object() || !other.is_object()) return one;
  Json object = Json::object();
  for (const auto& [key, value] : one.items()) {
    if (key == "logprobs" || key == "ids" || key == "seconds") continue;
    if (!other.contains(key)) object[key] = value;
    if (other.contains(key) && value != other.at(key)) object[key] = differing(value, other.at(key));
  }
  return object;
}

class TreeText {
 public:
  TreeText(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal)
      : replay_(replay),
        decisions_(decisions_of(journal, replay.nodes.size())),
        chosen_(chosen_nodes(replay, decisions_)),
        times_(times_shown(replay, decisions_)) {
    for (std::size_t i = 0; i < replay.nodes.size(); ++i)
      children_[replay.nodes[i].parent].push_back(static_cast<int>(i));
  }

  std::string text() {
    for (const int root : children_[-1])
      for (const int child : children_[root]) add(child, 0);
    return std::move(text_);
  }

 private:
  void add(int number, int depth) {
    const int times = times_[static_cast<std::size_t>(number)];
    if (times == 0) return;
    const Node& node = replay_.nodes.at(static_cast<std::size_t>(number));
    const std::string probability =
        node.verdict && node.verdict->probability ? fmt::format("{:.2f}", *node.verdict->probability) : "    ";
    text_ += fmt::format("{}{}{} {}{}", chosen_[static_cast<std::size_t>(number)] ? "* " : "  ", mark_of(node),
                         probability, std::string(static_cast<std::size_t>(2 * depth), ' '), one_line(node.text));
    if (times > 1) text_ += fmt::format(" (x {})", times);
    if (const auto decision = decisions_.find(number); decision != decisions_.end() && decision->second != "keep")
      text_ += fmt::format("   <- {}", decision->second);
    const auto& label = replay_.labels.at(static_cast<std::size_t>(number));
    if (label && !label->correct) text_ += fmt::format("   (wrong: {})", printable(label->reason));
    if (node.end && node.end->over()) text_ += node.end->result.success.value_or(false) ? "   right" : "   wrong";
    text_ += '\n';
    for (const int child : children_[number]) add(child, depth + 1);
  }

  const critic::Replay& replay_;
  const std::map<int, std::string> decisions_;
  const std::vector<bool> chosen_;
  const std::vector<int> times_;
  std::map<int, std::vector<int>> children_;
  std::string text_;
};

}  // namespace

Json search_nodes_json(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal) {
  const std::map<int, std::string> decisions = decisions_of(journal, replay.nodes.size());
  const std::vector<bool> chosen = chosen_nodes(replay, decisions);
  const std::vector<int> times = times_shown(replay, decisions);
  Json nodes = Json::array();
  for (std::size_t i = 0; i < replay.nodes.size(); ++i) {
    nodes.push_back(node_json(replay, static_cast<int>(i), decisions));
    nodes.back()["chosen"] = bool{chosen[i]};
    nodes.back()["times"] = times[i];
  }
  return nodes;
}

Json search_tree_json(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal) {
  return {{"task_id", replay.task.id},
          {"prompt", replay.task.prompt},
          {"complete", replay.finished},
          {"outcome", replay.finished ? printed_outcome(to_json(replay.outcome)) : Json()},
          {"failure", replay.failure.empty() ? Json() : Json(replay.failure)},
          {"nodes", search_nodes_json(replay, journal)},
          {"divergence", divergence_json(replay)}};
}

std::string search_tree_text(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal) {
  std::string text = fmt::format("{}: {}\n\n", printable_line(replay.task.id), printable(replay.task.prompt));
  text += TreeText(replay, journal).text();
  text += "\n* the way to the answer; ok, BAD, ???: the critic's verdict, with its P(correct)\n";
  if (replay.finished) {
    const critic::SearchOutcome& outcome = replay.outcome;
    text +=
        fmt::format("{}; {} policy tokens, {} critic tokens, {} env steps{}\n",
                    !outcome.answered ? "no answer"
                    : outcome.success ? "right"
                                      : "wrong",
                    outcome.spent.policy_tokens, outcome.spent.critic_tokens, outcome.spent.env_steps,
                    outcome.exhausted.empty() ? "" : fmt::format("; its budget of {} limited it", outcome.exhausted));
  } else if (!replay.failure.empty()) {
    text += fmt::format("the search of this task failed: {}\n", printable(replay.failure));
  } else {
    text += replay.divergence
                ? "the tree ends here: its journal ends, or cannot be followed further\n"
                : "the journal ends here: the search is not finished. Resume it with `agon search --resume`\n";
  }
  if (const auto& parts = replay.divergence)
    text += fmt::format("\nasked again, it differs at entry {} ({}):\n  recorded  {}\n  now       {}\n", parts->number,
                        parts->kind, printable(differing(parts->recorded, parts->now).dump()),
                        printable(differing(parts->now, parts->recorded).dump()));
  else if (replay.asked_again)
    text += "\nasked again, it takes the same path\n";
  return text;
}

}  // namespace agon::cli
