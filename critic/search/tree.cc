#include "critic/search/tree.h"

#include <algorithm>
#include <future>
#include <map>
#include <stdexcept>
#include <utility>

#include "agents/rollout.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/rng.h"
#include "core/text.h"
#include "critic/message_json.h"
#include "critic/search/draft.h"
#include "env/protocol.h"

namespace agon::critic {
namespace {

bool calls_tool(std::string_view turn) {
  return std::any_of(std::begin(kCallTags), std::end(kCallTags),
                     [&](env::Tag tag) { return turn.find(fmt::format("<{}>", env::name_of(tag))) != turn.npos; });
}

double tool_seconds_of(const env::StepResult& result) {
  double seconds = 0;
  for (const env::ToolAttempt& call : result.tool_calls) seconds += call.seconds;
  return seconds;
}

using Alternatives = std::vector<std::vector<agents::Alternative>>;

Json alternatives_json(const Alternatives& alternatives) {
  Json tokens = Json::array();
  for (const auto& of_token : alternatives) {
    Json& pairs = tokens.emplace_back(Json::array());
    for (const auto& [id, logprob] : of_token) pairs.push_back({id, logprob});
  }
  return tokens;
}

Alternatives alternatives_in(const Json& tokens) {
  Alternatives alternatives;
  for (const Json& pairs : tokens) {
    auto& of_token = alternatives.emplace_back();
    for (const Json& pair : pairs) of_token.push_back({pair.at(0).get<std::int32_t>(), pair.at(1).get<float>()});
  }
  return alternatives;
}

// A journal's number that is used as an index or a count. Throws if it is not in 0 .. `most`.
int recorded(const Json& entry, const char* key, int most) {
  const auto number = whole_number(entry.at(key), 0, most);
  if (!number) throw std::out_of_range(fmt::format("'{}' is {}, not from 0 to {}", key, entry.at(key).dump(), most));
  return *number;
}

}  // namespace

struct Tree::WritingAhead {
  Ahead what;
  std::future<std::vector<Draft>> drafts;
};

Tree::Tree(agents::Policy* policy, StepCritic* critic, Begin begin, Journal& journal, const TreeOptions& options)
    : policy_(policy),
      critic_(critic),
      begin_(std::move(begin)),
      journal_(journal),
      options_(options),
      account_(options.budget, journal.past_seconds()) {}

Tree::~Tree() = default;

int Tree::add_root() {
  Beginning beginning = begin_();
  task_ = beginning.env->task();
  auto turn = std::make_shared<TurnStart>();
  turn->env = std::move(beginning.env);
  if (!options_.instructions.empty()) turn->messages.push_back(Message::of(Role::system, options_.instructions));
  turn->messages.push_back({Role::user, beginning.first.observation.parts, {}, {}});
  turn->observation = std::move(beginning.first.observation);
  Node root;
  root.turn = std::move(turn);
  nodes_.push_back(std::move(root));
  children_.push_back(0);
  return size() - 1;
}

std::vector<int> Tree::path(int node) const {
  std::vector<int> nodes;
  for (; !at(node).is_root(); node = at(node).parent) nodes.push_back(node);
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<int> Tree::turn_steps(int node) const {
  std::vector<int> steps = {node};
  for (int up = at(node).parent; !at(up).is_root() && !at(up).end; up = at(up).parent) steps.push_back(up);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::string Tree::turn_text(int node) const {
  std::string text;
  for (const int step : turn_steps(node)) text += at(step).text;
  return text;
}

std::int64_t Tree::turn_tokens(int node) const {
  std::int64_t tokens = 0;
  for (; !at(node).is_root() && !at(node).end; node = at(node).parent) tokens += at(node).tokens;
  return tokens;
}

StepInContext Tree::step_at(int node) const {
  const Node& parent = at(at(node).parent);
  std::string before;
  if (!parent.is_root() && !parent.end) {
    const std::string text = turn_text(at(node).parent);
    for (const env::Span& span : env::split_steps(text)) {
      before += before.empty() ? "" : kBlankLine;
      before += span.of(text);
    }
  }
  return {parent.turn->messages, std::move(before), std::string(env::without_score(trim(at(node).text))),
          parent.turn->env.get()};
}

Draft Tree::draft(int line, int node, int number) const {
  Draft draft;
  draft.line = line;
  draft.parent = node;
  draft.messages = at(node).turn->messages;
  if (!at(node).is_root() && !at(node).end) draft.before = turn_text(node);
  draft.room = options_.sampling.max_tokens - turn_tokens(node);
  draft.seed =
      Rng::derive(options_.seed, "search", fmt::format("{}#{}", task_.id, node), static_cast<std::uint64_t>(number))();
  return draft;
}

std::vector<agents::Beginning> Tree::said_behind(int node) const {
  std::vector<agents::Beginning> all;
  for (int child = node + 1; child < size(); ++child) {
    const Node& step = at(child);
    if (step.parent != node || step.said == 0 || step.token_ids.empty() ||
        step.logprobs.size() != step.token_ids.size())
      continue;
    agents::Beginning& beginning = all.emplace_back();
    beginning.token_ids.assign(step.token_ids.begin(), step.token_ids.begin() + step.said);
    beginning.logprobs.assign(step.logprobs.begin(), step.logprobs.begin() + step.said);
    if (step.alternatives.size() != step.token_ids.size()) continue;
    beginning.alternatives.assign(step.alternatives.begin(), step.alternatives.begin() + step.said);
  }
  return all;
}

std::vector<Draft> Tree::drafts(std::span<const int> nodes, int n, Writing writing) const {
  std::vector<Draft> all;
  std::map<int, int> numbers;  // number of each node's next child
  for (std::size_t line = 0; line < nodes.size(); ++line) {
    int& number = numbers.emplace(nodes[line], children_.at(static_cast<std::size_t>(nodes[line]))).first->second;
    const auto excluded = writing == Writing::anew ? said_behind(nodes[line]) : std::vector<agents::Beginning>{};
    for (int j = 0; j < n; ++j) {
      all.push_back(draft(static_cast<int>(line), nodes[line], number++));
      all.back().excluded = excluded;
    }
  }
  return all;
}

agents::Sampling Tree::sampling(Writing writing) const {
  agents::Sampling sampling = options_.sampling;
  if (writing != Writing::greedy) return sampling;
  if (sampling.temperature > 0) sampling.greedy_logprobs_at = sampling.temperature;
  sampling.temperature = 0;
  return sampling;
}

std::vector<Draft> Tree::write(std::span<const int> nodes, int n, Writing writing, Share share) {
  if (ahead_ && nodes.size() == 1 && nodes[0] == ahead_->what.node && n == 1 && writing == ahead_->what.writing)
    return std::exchange(ahead_, nullptr)->drafts.get();
  drop_ahead();
  if (!policy_)
    throw JournalEnds("search: the journal of task {} ends here, and no policy is given to continue it.", task_.id);
  std::vector<Draft> written = drafts(nodes, n, writing);
  const std::int64_t left = account_.policy_tokens_left();
  if (share == Share::all)
    write_out(*policy_, written, sampling(writing), left);
  else
    write_within(*policy_, written, sampling(writing), left, account_.policy_tokens_for_candidates());
  return written;
}

void Tree::drop_ahead() {
  if (!ahead_) return;
  for (const Draft& draft : std::exchange(ahead_, nullptr)->drafts.get())
    account_.charge({.speculative_tokens = draft.tokens});
}

// The journal body of written steps, which become the next nodes.
Json Tree::written_json(const std::vector<Draft>& drafts) const {
  Json steps = Json::array(), full = Json::array();
  std::int64_t tokens = 0;
  bool cut = false;
  for (const Draft& draft : drafts) {
    tokens += draft.tokens;
    cut = cut || draft.cut;
    if (draft.full) full.push_back(draft.parent);
    if (draft.full || draft.tokens == 0) continue;
    steps.push_back({{"node", size() + static_cast<int>(steps.size())},
                     {"line", draft.line},
                     {"parent", draft.parent},
                     {"text", text_json(draft.text)},
                     {"ids", draft.token_ids},
                     {"logprobs", draft.logprobs},
                     {"said", draft.said()},
                     {"ends", draft.ends_turn},
                     {"cut", draft.cut}});
    if (draft.tokens != std::ssize(draft.token_ids)) steps.back()["tokens"] = draft.tokens;
    if (!draft.alternatives.empty()) steps.back()["alternatives"] = alternatives_json(draft.alternatives);
  }
  std::optional<BudgetPart> ended;
  if (cut && tokens >= account_.policy_tokens_left()) ended = BudgetPart::policy_tokens;
  return {{"steps", std::move(steps)}, {"full", std::move(full)}, {"exhausted", part_json(ended)}, {"held_back", cut}};
}

std::vector<std::vector<int>> Tree::expand(std::span<const int> nodes, int n, Writing writing) {
  return add_steps(nodes, n, writing, Share::of_candidates);
}

std::vector<std::vector<int>> Tree::extend(std::span<const int> lines) {
  return add_steps(lines, 1, Writing::sampled, Share::all);
}

std::vector<std::vector<int>> Tree::add_steps(std::span<const int> nodes, int n, Writing writing, Share share) {
  if (!account_.may_write() || nodes.empty()) return std::vector<std::vector<int>>(nodes.size());
  const Json body = journal_.next("write", [&](std::vector<Image>&) {
    std::vector<Draft> drafts;
    const std::optional<BudgetPart> bar = account_.bars_writing();
    if (!bar) drafts = write(nodes, n, writing, share);
    Json written = written_json(drafts);
    if (bar) written["exhausted"] = part_json(bar);
    if (!bar && std::ssize(drafts) < std::ssize(nodes) * n) written["held_back"] = true;
    written["seconds"] = account_.seconds();
    return written;
  });
  return take_steps(body, nodes.size());
}

std::vector<std::vector<int>> Tree::take_steps(const Json& body, std::size_t lines) {
  std::vector<std::vector<int>> added(lines);
  for (const Json& step : body.at("steps")) {
    Node node;
    node.parent = recorded(step, "parent", size() - 1);
    node.depth = at(node.parent).depth + 1;
    node.turn = at(node.parent).turn;
    node.text = text_of(step.at("text"));
    node.token_ids = step.at("ids").get<std::vector<std::int32_t>>();
    node.logprobs = step.at("logprobs").get<std::vector<float>>();
    if (step.contains("alternatives")) node.alternatives = alternatives_in(step.at("alternatives"));
    node.tokens = step.contains("tokens") ? recorded(step, "tokens", INT32_MAX) : std::ssize(node.token_ids);
    const std::int64_t most = std::max(node.tokens, std::ssize(node.logprobs));  // a server may count differently
    node.said = recorded(step, "said", static_cast<int>(most));
    node.ends_turn = step.at("ends").get<bool>();
    node.cut = step.at("cut").get<bool>();
    account_.charge({.policy_tokens = node.tokens});
    ++children_.at(static_cast<std::size_t>(node.parent));
    added.at(static_cast<std::size_t>(recorded(step, "line", static_cast<int>(lines) - 1))).push_back(size());
    nodes_.push_back(std::move(node));
    children_.push_back(0);
  }
  for (const Json& node : body.at("full"))
    nodes_.at(whole_number<std::size_t>(node, 0, nodes_.size() - 1).value_or(nodes_.size())).full = true;
  account_.end(part_in(body.at("exhausted")));
  if (body.at("held_back").get<bool>()) account_.hold_back();
  return added;
}

void Tree::write_ahead(const Ahead& ahead) {
  const Node& node = at(ahead.node);
  if (!options_.speculate || !policy_ || journal_.in_past() || node.is_over() || node.ends_turn) return;
  if (account_.policy_tokens_left() <= 0) return;
  ahead_ = std::make_unique<WritingAhead>();
  ahead_->what = ahead;
  const int nodes[] = {ahead.node};
  ahead_->drafts = std::async(std::launch::async,
                              [policy = policy_, drafts = drafts(nodes, 1, ahead.writing),
                               sampling = sampling(ahead.writing), left = account_.policy_tokens_left()]() mutable {
                                write_out(*policy, drafts, sampling, left);
                                return std::move(drafts);
                              });
}

std::uint64_t Tree::twin_key(int node) const {
  return hash_text(fmt::format("{} {}", at(node).parent, trim(at(node).text)));
}

void Tree::judge(std::span<const int> nodes, std::optional<Ahead> ahead) {
  if (!account_.may_judge()) return;
  std::vector<int> asked, waiting;
  for (const int node : nodes) {
    if (at(node).verdict || at(node).cut) continue;
    (judged_.emplace(twin_key(node), node).second ? asked : waiting).push_back(node);
  }
  if (!asked.empty()) {
    if (ahead && account_.critic_tokens_left() >= std::ssize(asked)) write_ahead(*ahead);
    take_verdicts(journal_.next("judge", [&](std::vector<Image>&) { return say(asked); }));
  }
  for (const int place : waiting) {
    Node& node = nodes_[static_cast<std::size_t>(place)];
    node.verdict = at(judged_.at(twin_key(place))).verdict;
    node.twin = node.verdict.has_value();
  }
}

Json Tree::say(std::span<const int> nodes) {
  Json body{{"verdicts", Json::array()}, {"cut_tokens", 0}, {"exhausted", nullptr}, {"seconds", account_.seconds()}};
  if (const std::optional<BudgetPart> bar = account_.bars_judging(std::ssize(nodes))) {
    body["exhausted"] = part_json(bar);
    return body;
  }
  if (!critic_)
    throw JournalEnds("search: the journal of task {} ends here, and no critic is given to continue it.", task_.id);
  std::vector<StepInContext> steps;
  for (const int node : nodes) steps.push_back(step_at(node));
  const std::vector<Verdict> verdicts = critic_->judge(steps, account_.critic_tokens_each(std::ssize(nodes)));
  std::int64_t cut_tokens = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts.at(i).cut) {
      cut_tokens += verdicts[i].tokens;
      body["exhausted"] = part_json(BudgetPart::critic_tokens);
      continue;
    }
    Json verdict = verdict_json(verdicts[i]);
    verdict["node"] = nodes[i];
    body["verdicts"].push_back(std::move(verdict));
  }
  body["cut_tokens"] = cut_tokens;
  body["seconds"] = account_.seconds();
  return body;
}

void Tree::take_verdicts(const Json& body) {
  for (const Json& verdict : body.at("verdicts")) {
    Node& node = nodes_.at(static_cast<std::size_t>(recorded(verdict, "node", size() - 1)));
    node.verdict = verdict_in(verdict);
    account_.charge({.critic_tokens = node.verdict->tokens});
  }
  account_.charge({.critic_tokens = body.at("cut_tokens").get<std::int64_t>()});
  account_.end(part_in(body.at("exhausted")));
}

void Tree::enter(std::span<const int> nodes) {
  for (const int node : nodes)
    if (at(node).ends_turn && !at(node).end && !at(node).cut && at(at(node).parent).turn->env) play_turn(node);
}

void Tree::play_turn(int node) {
  if (const std::optional<BudgetPart> bar = account_.bars_playing(calls_tool(turn_text(node))))
    return account_.end(bar);
  TurnStart& turn = *at(at(node).parent).turn;
  std::unique_ptr<env::Env> env = options_.forks || options_.keeps_envs ? turn.env->fork() : std::move(turn.env);
  env::StepResult result = env->step({turn_text(node), {}});
  std::vector<Image> images;
  Json body{{"node", node},
            {"reward", result.reward.total},
            {"success", result.success.value_or(false)},
            {"terminated", result.terminated},
            {"truncated", result.truncated},
            {"observation", parts_json(result.observation.parts, images)}};
  body["tool_seconds"] = tool_seconds_of(result);
  body["seconds"] = account_.seconds();
  const Json recorded = journal_.next_known("play", std::move(body), std::move(images));
  account_.charge({.env_steps = 1, .tool_seconds = recorded.at("tool_seconds").get<double>()});
  Node& played = nodes_[static_cast<std::size_t>(node)];
  const std::shared_ptr<TurnStart> next = next_turn(node, std::move(env), result);
  played.end = TurnEnd{std::move(result)};
  played.turn = next;
}

std::shared_ptr<TurnStart> Tree::next_turn(int node, std::unique_ptr<env::Env> env,
                                           const env::StepResult& result) const {
  auto next = std::make_shared<TurnStart>();
  if (result.terminated || result.truncated) return next;  // nothing follows: the env may be destroyed
  next->env = std::move(env);
  next->messages = at(at(node).parent).turn->messages;
  Message said = Message::of(Role::assistant, turn_text(node));
  for (const int step : turn_steps(node))
    said.token_ids.insert(said.token_ids.end(), at(step).token_ids.begin(), at(step).token_ids.end());
  next->messages.push_back(std::move(said));
  next->messages.push_back({Role::user, result.observation.parts, {}, {}});
  next->observation = result.observation;
  return next;
}

void Tree::note(const std::string& decision, int node, const Json& detail) {
  journal_.next_known(
      "note", {{"decision", decision}, {"node", node}, {"detail", detail}, {"seconds", account_.seconds()}}, {});
}

record::Episode Tree::episode(int node) const {
  record::Episode episode;
  episode.task_id = task_.id;
  episode.level = task_.level;
  episode.kind = task_.kind;
  episode.prompt = task_.prompt;
  episode.gold = task_.gold;
  env::StepResult last;
  for (const int step : path(node)) {
    const bool begins = at(at(step).parent).is_root() || at(at(step).parent).end;
    if (begins) episode.turns.emplace_back().observation = at(at(step).parent).turn->observation;
    record::Turn& turn = episode.turns.back();
    turn.text += at(step).text;
    turn.token_ids.insert(turn.token_ids.end(), at(step).token_ids.begin(), at(step).token_ids.end());
    turn.logprobs.insert(turn.logprobs.end(), at(step).logprobs.begin(), at(step).logprobs.end());
    if (at(step).tokens != std::ssize(at(step).token_ids))
      turn.counted_tokens = turn.counted_tokens.value_or(0) + static_cast<int>(at(step).tokens);
    turn.finish_reason = to_string(turn.tokens() < options_.sampling.max_tokens ? agents::FinishReason::stop
                                                                                : agents::FinishReason::length);
    if (!at(step).end) continue;
    last = at(step).end->result;
    turn.reward = last.reward;
    turn.facts = last;
    episode.reward += last.reward.total;
  }
  episode.seconds = account_.seconds();
  if (!episode.turns.empty()) agents::finish_episode(episode, last);
  episode.truncated = episode.truncated || at(node).full;
  return episode;
}

}  // namespace agon::critic
