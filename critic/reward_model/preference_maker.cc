#include "critic/reward_model/preference_maker.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "critic/message_json.h"
#include "critic/search/journal.h"
#include "env/protocol.h"
#include "env/wrappers/labelled_steps.h"

namespace agon::critic {
namespace {

double binomial(std::size_t n, std::size_t k) {
  double ways = 1;
  for (std::size_t i = 0; i < k; ++i) ways *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  return n < k ? 0 : ways;
}

double share_of_right_steps(const env::Env& env, const std::string& text) {
  const std::size_t all = env::split_steps(text).size();
  if (all == 0) return 0;
  const std::vector<env::LabelledTurnStep> steps = env::labelled_steps(env, text);
  const auto wrong = std::ranges::find_if(steps, [](const env::LabelledTurnStep& step) { return !step.label.correct; });
  return static_cast<double>(wrong - steps.begin()) / static_cast<double>(all);
}

Json arcs_json(const std::vector<PreferenceArc>& arcs) {
  Json list = Json::array();
  for (const PreferenceArc& arc : arcs) list.push_back({arc.better, arc.worse, arc.weight});
  return list;
}

PreferenceGraph graph_in(const Json& body) {
  PreferenceGraph graph{static_cast<int>(body.at("responses").size()), {}};
  for (const Json& arc : body.at("graph").at("arcs")) graph.arcs.push_back({arc.at(0), arc.at(1), arc.at(2)});
  return graph;
}

std::vector<int> ranks_of_chosen(const std::vector<int>& rank, const std::vector<std::size_t>& chosen) {
  std::vector<int> own;
  for (const std::size_t i : chosen) own.push_back(rank.at(i));
  return dense_ranks(own);
}

}  // namespace

std::vector<std::vector<int>> worse_by_rank(const std::vector<int>& rank) {
  std::vector<std::vector<int>> worse(rank.size());
  for (std::size_t i = 0; i < rank.size(); ++i)
    for (std::size_t k = 0; k < rank.size(); ++k)
      if (rank[k] > rank[i]) worse[i].push_back(static_cast<int>(k));
  return worse;
}

std::optional<std::vector<std::size_t>> choose_responses(const std::vector<std::vector<int>>& worse, std::size_t count,
                                                         Rng& rng) {
  // A response is the best one of as many subsets as there are ways to choose the other responses among the worse ones.
  std::vector<double> ways;
  double all = 0;
  for (const std::vector<int>& own : worse) all += ways.emplace_back(binomial(own.size(), count - 1));
  if (all == 0) return std::nullopt;
  double draw = rng.uniform() * all;
  std::size_t best = 0;
  while (best + 1 < ways.size() && (draw >= ways[best] || ways[best] == 0)) draw -= ways[best++];
  std::vector<std::size_t> chosen(worse[best].begin(), worse[best].end());
  rng.shuffle(chosen);
  chosen.resize(count - 1);
  chosen.push_back(best);
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<int> ranks_of(const std::vector<KnownResponse>& responses) {
  const auto key = [](const KnownResponse& one) { return std::pair(!one.right, -one.right_steps); };
  std::vector<int> rank;
  for (const KnownResponse& one : responses)
    rank.push_back(
        static_cast<int>(std::ranges::count_if(responses, [&](const auto& other) { return key(other) < key(one); })));
  return dense_ranks(rank);
}

std::vector<int> ranks_of_votes(const std::vector<KnownResponse>& responses, std::vector<PreferenceGraph> judges,
                                VotedRanking& voted) {
  std::vector<std::string> names;
  for (const KnownResponse& one : responses) names.push_back(one.text);
  DenoisedGraph denoised = remove_cycles(union_of(judges));
  if (denoised.graph.arcs.empty()) return std::vector<int>(responses.size(), 1);
  std::vector<std::size_t> all(responses.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<int> order = ranking_of(denoised.graph, names);
  voted = {std::move(denoised.graph), std::move(denoised.removed), std::move(order)};
  return ranks_within(voted.graph, all);
}

// A task in progress: its responses so far.
struct PreferenceMaker::Task {
  std::uint64_t index = 0;
  std::unique_ptr<env::Env> env;  // before the answer
  env::StepResult first;
  std::vector<Message> messages;
  std::vector<KnownResponse> responses;
  std::vector<int> rank;
  VotedRanking voted;

  // Adds the response without the score that a policy gives itself: experts give none, and it is no part of the answer.
  void add(std::string_view whole, const std::string& source, bool repeats) {
    const std::string text(env::without_score(whole));
    const auto known = std::ranges::find(responses, text, &KnownResponse::text);
    if (text.empty() || (known != responses.end() && !repeats)) return;
    if (known != responses.end()) {
      KnownResponse again = *known;
      again.source = source;
      responses.push_back(std::move(again));
      return;
    }
    const env::StepResult result = env->fork()->step({text, {}});
    responses.push_back(
        {text, source, result.reward.total, result.success.value_or(false), share_of_right_steps(*env, text)});
  }
};

PreferenceMaker::PreferenceMaker(const PreferenceOptions& options, std::vector<ResponseWriter> writers,
                                 std::vector<Judge*> judges)
    : options_(options), writers_(std::move(writers)), judges_(std::move(judges)) {
  const env::SuiteInfo& info = options.suite.info();
  if (info.takes_file)
    throw Error("make-preferences: suite {} plays a file of tasks, and has no experts. Try charts or shapes.",
                info.name);
  if (info.max_turns != 1)
    throw Error(
        "make-preferences: an episode of suite {} has up to {} turns; preferences are between whole responses. Try "
        "charts or shapes.",
        info.name, info.max_turns);
  if (options.samples == 0 && options.corrupted == 0)
    throw Error("make-preferences: --samples and --corrupted are both 0: there is nothing to rank. Raise one of them.");
  const std::int64_t written = std::ssize(writers_) * options.samples + options.corrupted;
  if (!options.repeats && options.responses > written)
    throw Error(
        "make-preferences: cannot choose --responses {} from the {} written per task (--samples {} per policy and "
        "temperature, --corrupted {}). Raise one of these, or lower --responses.",
        options.responses, written, options.samples, options.corrupted);
  env_ = options.suite.make_env();
}

PreferenceMaker::~PreferenceMaker() = default;

std::unique_ptr<PreferenceMaker::Task> PreferenceMaker::open(std::uint64_t index) const {
  auto task = std::make_unique<Task>();
  task->index = index;
  task->env = env_->fork();
  task->first = task->env->reset({options_.split, index, options_.seed});
  const std::string& instructions = options_.suite.info().instructions;
  if (!instructions.empty()) task->messages.push_back(Message::of(Role::system, instructions));
  task->messages.push_back({Role::user, task->first.observation.parts, {}, {}});
  return task;
}

void PreferenceMaker::write(std::vector<std::unique_ptr<Task>>& tasks) const {
  if (options_.samples == 0) return;
  for (const ResponseWriter& writer : writers_) {
    std::vector<agents::CompletionRequest> requests;
    for (const auto& task : tasks) {
      agents::CompletionRequest& request = requests.emplace_back();
      request.messages = task->messages;
      request.n = options_.samples;
      request.sampling.temperature = writer.temperature;
      request.sampling.max_tokens = options_.max_tokens;
      request.sampling.seed = Rng::derive(options_.seed, writer.name, task->env->task().id)();
    }
    const std::vector<agents::Completion> completions = writer.policy->complete(requests);
    agents::require_complete(completions);
    for (std::size_t i = 0; i < completions.size(); ++i)
      tasks[i / static_cast<std::size_t>(options_.samples)]->add(completions[i].text, writer.name, options_.repeats);
  }
}

// Adds the expert's solution with one random step made wrong, options_.corrupted times; the text after the step stays.
void PreferenceMaker::corrupt(Task& task) const {
  Rng rng = Rng::derive(options_.seed, "corrupted", task.env->task().id);
  for (const env::SolutionTurn& turn : env::expert_turns(*task.env, task.first, rng)) {
    std::vector<env::LabelledTurnStep> right;
    for (env::LabelledTurnStep& step : env::labelled_steps(*turn.env, turn.text))
      if (step.label.correct) right.push_back(std::move(step));
    for (int i = 0; i < options_.corrupted && !right.empty(); ++i) {
      const env::StepQuery& query = rng.pick(right).query;
      const auto wrong = env::corrupted(*turn.env, query, rng);
      const std::size_t at = turn.text.find(query.step, query.before.size());
      if (!wrong || at == std::string::npos) continue;
      std::string text = turn.text;
      task.add(text.replace(at, query.step.size(), wrong->step), "corrupted", options_.repeats);
    }
  }
}

void PreferenceMaker::rank(std::vector<std::unique_ptr<Task>>& tasks) {
  judged_.assign(tasks.size(), {});
  if (judges_.empty()) {
    for (const auto& task : tasks) task->rank = ranks_of(task->responses);
    return;
  }
  std::vector<Candidates> sets;
  for (const auto& task : tasks) {
    Candidates& set = sets.emplace_back();
    set.messages = task->messages;
    for (const KnownResponse& one : task->responses) set.responses.push_back(one.text);
  }
  std::vector<std::vector<PreferenceGraph>> graphs(tasks.size());
  for (Judge* judge : judges_) {
    std::vector<JudgeCounts> judged;
    const std::vector<std::vector<PreferenceVote>> votes = judge->compare(sets, &judged);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      graphs[i].push_back(graph_of_votes(static_cast<int>(sets[i].responses.size()), votes[i]));
      judged_[i] += judged[i];
    }
  }
  for (std::size_t i = 0; i < tasks.size(); ++i)
    tasks[i]->rank = ranks_of_votes(tasks[i]->responses, std::move(graphs[i]), tasks[i]->voted);
}

std::optional<MadePreference> PreferenceMaker::choose(Task& task) const {
  MadePreference made{task.index, {}, std::move(task.responses), std::move(task.rank), {}, std::move(task.voted)};
  const bool voted = made.voted.graph.items > 0;
  Rng rng = Rng::derive(options_.seed, "chosen", task.env->task().id);
  const bool all = options_.repeats || options_.responses == 0;
  const std::size_t count = all ? made.responses.size() : static_cast<std::size_t>(options_.responses);
  if (all) {
    for (std::size_t i = 0; i < count; ++i) made.chosen.push_back(i);
  } else if (auto chosen =
                 choose_responses(voted ? descendants(made.voted.graph) : worse_by_rank(made.rank), count, rng)) {
    made.chosen = std::move(*chosen);
  }
  std::vector<int> rank = voted ? ranks_within(made.voted.graph, made.chosen) : ranks_of_chosen(made.rank, made.chosen);
  if (std::ranges::count(rank, 1) == std::ssize(rank)) return std::nullopt;
  made.preference = {task.env->task().id, options_.suite.name(), task.messages, {}, std::move(rank)};
  for (const std::size_t i : made.chosen) made.preference.responses.push_back(made.responses[i].text);
  return made;
}

std::vector<std::optional<MadePreference>> PreferenceMaker::make(const std::vector<std::uint64_t>& indices) {
  std::vector<std::unique_ptr<Task>> tasks;
  for (const std::uint64_t index : indices) tasks.push_back(open(index));
  write(tasks);
  for (const auto& task : tasks) corrupt(*task);
  rank(tasks);
  std::vector<std::optional<MadePreference>> made;
  for (const auto& task : tasks) made.push_back(choose(*task));
  return made;
}

Json made_json(const MadePreference& made, std::vector<Image>& images) {
  Json body{{"id", made.preference.id}, {"category", made.preference.category}};
  body["messages"] = messages_json(made.preference.messages, images);
  body["responses"] = Json::array();
  for (const KnownResponse& one : made.responses)
    body["responses"].push_back({{"text", text_json(one.text)},
                                 {"source", one.source},
                                 {"reward", one.reward},
                                 {"right", one.right},
                                 {"steps", one.right_steps}});
  body["rank"] = made.rank;
  body["chosen"] = made.chosen;
  if (made.voted.graph.items > 0)
    body["graph"] = {{"arcs", arcs_json(made.voted.graph.arcs)},
                     {"removed", arcs_json(made.voted.removed)},
                     {"order", made.voted.order}};
  return body;
}

Preference preference_in(const Json& body, const std::function<Image(const std::string&)>& image) {
  Preference preference{body.at("id"), body.at("category"), messages_in(body.at("messages"), image), {}, {}};
  const auto chosen = body.at("chosen").get<std::vector<std::size_t>>();
  for (const std::size_t place : chosen)
    preference.responses.push_back(text_of(body.at("responses").at(place).at("text")));
  preference.rank =
      body.contains("graph") ? ranks_within(graph_in(body), chosen) : ranks_of_chosen(body.at("rank"), chosen);
  return preference;
}

}  // namespace agon::critic
