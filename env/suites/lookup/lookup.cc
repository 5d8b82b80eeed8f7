// The suite lookup: the picture shows an emblem, and the question about its house is answered by documents that have to
// be searched for.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "env/grading/published_rules.h"
#include "env/kit/baseline.h"
#include "env/kit/schemas.h"
#include "env/kit/suite_task.h"
#include "env/kit/tool_env.h"
#include "env/protocol.h"
#include "env/suites/lookup/index.h"
#include "env/suites/lookup/task.h"
#include "env/suites/lookup/world.h"
#include "env/suites/suites.h"
#include "tools/search/search_tool.h"

namespace agon::env {
namespace {

using lookup::Emblem;
using lookup::FoundValue;
using lookup::LookupTask;
using lookup::Thing;

constexpr const char* kNothingAsked = "Write <search>...</search> or <answer>...</answer> in a turn.";
constexpr const char* kNames =
    " A shield is an Order, a disc a Guild, a flag a League; the two shapes on it name it, as in Order of the Red Star "
    "and the Blue Cross.";

std::vector<std::shared_ptr<tools::Tool>> new_tools(Baseline baseline) {
  if (baseline != Baseline::none) return {};
  return {tools::make_search_tool(lookup::lookup_index())};
}

// The query of a call; "nothing" if a policy gave none.
std::string query_of(const ToolCall& call) {
  const auto query = call.arguments.is_object() ? call.arguments.find("query") : call.arguments.end();
  return query != call.arguments.end() && query->is_string() ? query->get<std::string>() : "nothing";
}

class Lookup final : public ToolEnv {
 public:
  Lookup(int level, Baseline baseline) : level_(level), baseline_(baseline) {}

  void prepare() override { lookup::lookup_index(); }

  StepResult reset(const ResetOptions& options) override {
    Rng rng = task_stream("lookup", level_, options);
    question_ = draw_task(
        rng, options.split, [this](Rng& stream) { return lookup::draw_lookup_task(level_, stream); },
        [](const LookupTask& task) { return task.content(); });
    seen_.assign(question_.chain.size(), false);
    Emblem emblem = lookup::draw_emblem(lookup::lookup_world().houses[static_cast<std::size_t>(question_.house)], rng);
    start({task_id("lookup", level_, options), level_, question_.kind, question_.prompt, question_.answer()},
          new_tools(baseline_), baseline_ == Baseline::none ? kToolTurns : 1);
    StepResult first;
    first.observation.parts = {Part::of(std::move(emblem.picture)), Part::of(question_.prompt)};
    if (baseline_ == Baseline::rag) first.observation.parts.push_back(Part::of(found_for_question()));
    first.info["objects"] = std::move(emblem.objects);
    return first;
  }

  std::unique_ptr<Env> fork() const override { return std::make_unique<Lookup>(*this); }

  std::optional<StepLabel> check_step(const StepQuery& query) const override;
  std::optional<std::vector<Action>> demonstrate(Rng& rng) const override;
  std::optional<Action> mistake(Rng& rng) const override;
  std::optional<std::string> corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const override;

 private:
  StepResult act(const Action& action) override;
  StepResult search(const ToolCall& call);
  StepResult grade(const std::string& answer) const;
  std::string found_for_question() const;

  // The index of the first document that is still needed; the length of the chain if none is.
  std::size_t next_hop() const {
    return static_cast<std::size_t>(std::find(seen_.begin(), seen_.end(), false) - seen_.begin());
  }
  static bool shows(const std::string& results, const Thing& thing) {
    return results.find(fmt::format("(Title: {})", lookup::lookup_world().name_of(thing))) != results.npos;
  }
  std::string what_is_known(std::size_t hops) const;  // the last sentence known after `hops` documents
  std::string all_that_is_known() const;
  std::optional<std::string> corrupt_bare(const StepQuery& bare, ErrorKind kind, Rng& rng) const;
  StepLabel label_search(const ToolCall& call) const;
  StepLabel label_answer(const std::string& answer) const;
  std::optional<StepLabel> label_found(const FoundValue& found) const;

  int level_;
  Baseline baseline_;
  LookupTask question_;
  std::vector<bool> seen_;  // by hop: the policy has seen its document
};

StepResult Lookup::act(const Action& action) {
  const Move move = move_of(action, tools().specs());
  if (move.answer || baseline_ != Baseline::none) return grade(move.answer.value_or(""));
  return move.call ? search(*move.call) : refused_step(kNothingAsked);
}

StepResult Lookup::search(const ToolCall& call) {
  const tools::ToolResult called = tools().call(call);
  StepResult result;
  const std::string text = called.error ? called.error->message + "\n" : called.parts.front().text;
  const std::size_t wanted = next_hop();
  const std::vector<Thing> things = question_.things();
  for (std::size_t hop = 0; hop < things.size(); ++hop)
    if (shows(text, things[hop])) seen_[hop] = true;
  result.observation.parts.push_back(Part::of(information(text)));
  result.step_correct = wanted < seen_.size() && seen_[wanted];
  return result;
}

StepResult Lookup::grade(const std::string& answer) const {
  const AnswerScore score = score_answer(answer, {question_.answer()});
  StepResult result;
  result.reward = {score.f1, {{"accuracy", score.f1}}};
  result.terminated = true;
  result.success = score.exact;
  result.step_correct = score.exact;
  return result;
}

std::string Lookup::found_for_question() const {
  const tools::SearchReply reply =
      lookup::lookup_index()->search(question_.prompt, tools::SearchToolOptions().top_k, 60);
  return information(tools::information_of(reply.hits));
}

std::optional<StepLabel> Lookup::check_step(const StepQuery& query) const {
  if (!open()) return std::nullopt;
  const StepQuery bare = without_think_tags(query);
  const Move move = move_of({bare.step, {}}, tools().specs());
  if (move.call) return label_search(*move.call);
  if (move.answer) return label_answer(*move.answer);
  if (const auto house = lookup::parse_emblem_sentence(bare.step)) {
    const bool right = *house == question_.content();
    return StepLabel{right, StepKind::perception, right ? "" : "it is of the " + question_.content(),
                     question_.content(), *house};
  }
  const auto found = lookup::parse_found_sentence(bare.step);
  return found ? label_found(*found) : std::nullopt;
}

// A right search finds the document that is needed next.
StepLabel Lookup::label_search(const ToolCall& call) const {
  const StepKind kind = next_hop() == 0 ? StepKind::perception : StepKind::reasoning;
  if (next_hop() == seen_.size()) return {false, kind, "all is known: " + question_.answer()};
  const Thing wanted = question_.things()[next_hop()];
  EpisodeTools trial = tools();
  const tools::ToolResult called = trial.call(call);
  const bool right = !called.error && shows(called.parts.front().text, wanted);
  const std::string name = lookup::lookup_world().name_of(wanted);
  return {right, kind, right ? "" : "it does not find " + name, name, right ? name : query_of(call)};
}

StepLabel Lookup::label_answer(const std::string& answer) const {
  const bool right = score_answer(answer, {question_.answer()}).exact;
  return {right, StepKind::reasoning, right ? "" : "it is " + question_.answer(), question_.answer(), answer};
}

std::optional<StepLabel> Lookup::label_found(const FoundValue& found) const {
  const auto hop = std::find(question_.chain.begin(), question_.chain.end(), found.relation);
  if (hop == question_.chain.end()) return std::nullopt;
  const std::string value = question_.value(static_cast<std::size_t>(hop - question_.chain.begin()));
  const bool right = found.value == value;
  return StepLabel{right, StepKind::reasoning, right ? "" : "it is " + value, value, found.value};
}

std::string Lookup::what_is_known(std::size_t hops) const {
  if (hops == 0) return lookup::emblem_sentence(question_.content());
  return lookup::found_sentence({question_.chain[hops - 1], question_.value(hops - 1)});
}

std::string Lookup::all_that_is_known() const {
  std::vector<std::string> sentences;
  for (std::size_t hops = 0; hops <= question_.chain.size(); ++hops) sentences.push_back(what_is_known(hops));
  return joined_steps(sentences);
}

std::optional<std::vector<Action>> Lookup::demonstrate(Rng&) const {
  if (!open()) return std::nullopt;
  const std::string answer = wrap(Tag::answer, question_.answer());
  if (baseline_ == Baseline::direct) return std::vector<Action>{{answer, {}}};
  if (baseline_ != Baseline::none) return std::vector<Action>{{thought(all_that_is_known(), answer), {}}};
  std::vector<Action> actions;
  const std::vector<Thing> things = question_.things();
  for (std::size_t hop = 0; hop < things.size(); ++hop)
    if (!seen_[hop])
      actions.push_back(
          {thought(what_is_known(hop), wrap(Tag::search, lookup::lookup_world().name_of(things[hop]))), {}});
  if (static_cast<int>(actions.size()) >= turns_left()) actions.clear();  // the turns left are only enough to answer
  actions.push_back({thought(what_is_known(things.size()), answer), {}});
  return actions;
}

std::optional<Action> Lookup::mistake(Rng& rng) const {
  if (!open()) return std::nullopt;
  const std::size_t last = question_.chain.size() - 1;
  const std::string wrong = lookup::another_value(question_, last, rng);
  return Action{thought(lookup::found_sentence({question_.chain[last], wrong}), wrap(Tag::answer, wrong)), {}};
}

std::optional<std::string> Lookup::corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const {
  const auto label = check_step(query);
  if (!label || !label->correct) return std::nullopt;
  auto wrong = corrupt_bare(without_think_tags(query), kind, rng);
  if (wrong) *wrong = with_think_tags_of(query.step, std::move(*wrong));
  return wrong;
}

std::optional<std::string> Lookup::corrupt_bare(const StepQuery& bare, ErrorKind kind, Rng& rng) const {
  const Move move = move_of({bare.step, {}}, tools().specs());
  const std::size_t last = question_.chain.size() - 1;
  if (lookup::parse_emblem_sentence(bare.step))
    return kind == ErrorKind::misread_value
               ? std::optional(lookup::emblem_sentence(lookup::another_thing(question_, 0, rng)))
               : std::nullopt;
  if (kind == ErrorKind::unjustified_jump && !move.answer)
    return wrap(Tag::answer, lookup::another_value(question_, last, rng));
  if (kind != ErrorKind::wrong_object) return std::nullopt;
  if (move.call) {
    std::string wrong = wrap(Tag::search, lookup::another_thing(question_, next_hop(), rng));
    const auto verdict = check_step({bare.before, wrong});
    return verdict && !verdict->correct ? std::optional(std::move(wrong)) : std::nullopt;
  }
  if (move.answer) return wrap(Tag::answer, lookup::another_value(question_, last, rng));
  const FoundValue found = lookup::parse_found_sentence(bare.step).value();
  const auto hop = std::find(question_.chain.begin(), question_.chain.end(), found.relation) - question_.chain.begin();
  return lookup::found_sentence({found.relation, lookup::another_value(question_, static_cast<std::size_t>(hop), rng)});
}

}  // namespace

SuiteDefinition lookup_suite(const SuiteOptions& options) {
  const Baseline baseline = baseline_from(options.baseline);
  SuiteInfo info;
  info.name = "lookup";
  info.description = "Search: read an emblem, then find what one to three of 20,000 documents say about its house";
  info.instructions =
      baseline == Baseline::none
          ? "Think in <think></think>. Then search in <search></search>, or answer in <answer></answer>."
          : baseline_instructions(baseline);
  info.instructions += kNames;
  info.baselines = {"direct", "cot", "rag"};
  info.levels = lookup::kLookupLevels;
  info.default_level = 1;
  info.test_tasks = kTestTasks;
  info.max_turns = baseline == Baseline::none ? kToolTurns : 1;
  info.metric = "match";
  info.observation_schema = message_schema();
  info.action_schema =
      text_action_schema("<think>...</think>, then <search>QUERY</search> or <answer>ANSWER</answer>.");
  info.object_classes = lookup::emblem_object_names();
  return {std::move(info), [baseline](int level) { return std::make_unique<Lookup>(level, baseline); }};
}

}  // namespace agon::env
