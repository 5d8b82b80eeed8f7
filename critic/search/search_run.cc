#include "critic/search/search_run.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "net/http_client.h"
#include "record/journal_entry.h"

namespace agon::critic {
namespace {

constexpr int kRetries = 2;

// Requests as many alternatives per token as there are attempts, so that every retry has one to branch off to.
agents::Sampling sampling_of(const SearchOptions& options) {
  agents::Sampling sampling = options.sampling;
  const MethodOptions& method = options.method;
  if (method.method == Method::guided && method.retry == Retry::anew && sampling.temperature == 0)
    sampling.alternatives = method.attempts;
  sampling.logprobs = looks_at(method.method, Setting::keep) && method.keep == Keep::likeliest;
  return sampling;
}

TreeOptions tree_options(const SearchOptions& options, const std::string& instructions) {
  return {.budget = options.budget,
          .sampling = sampling_of(options),
          .seed = options.seed,
          .instructions = instructions,
          .forks = needs_forks(options.method.method),
          .speculate = options.speculate};
}

Tree::Begin beginning(const SearchOptions& options, const env::EnvFactory& new_env, std::uint64_t task) {
  return [&options, &new_env, task] {
    Tree::Beginning beginning{new_env(), {}};
    beginning.first = beginning.env->reset({options.split, task, options.seed});
    return beginning;
  };
}

SearchOutcome outcome_of(const Tree& tree, const Answer& answer, std::uint64_t task) {
  SearchOutcome outcome;
  outcome.task_index = task;
  outcome.task_id = tree.task().id;
  outcome.kind = tree.task().kind;
  outcome.level = tree.task().level;
  outcome.answered = answer.node >= 0;
  outcome.success = outcome.answered && tree.episode(answer.node).success;
  outcome.exhausted = tree.account().exhausted();
  outcome.spent = tree.account().spent();
  outcome.nodes = tree.size();
  for (int node = 0; node < tree.size(); ++node) {
    const auto& verdict = tree.at(node).verdict;
    if (tree.at(node).twin) continue;
    outcome.judged += verdict.has_value();
    outcome.invalid += verdict && verdict->judgement == Judgement::invalid;
    outcome.unknown += verdict && verdict->judgement == Judgement::unknown;
  }
  outcome.rejected = answer.rejected;
  outcome.unranked = answer.unranked;
  outcome.attempts = answer.attempts;
  return outcome;
}

std::optional<env::StepLabel> label_of(const Tree& tree, int node) {
  if (tree.at(node).is_root()) return std::nullopt;
  const StepInContext step = tree.step_at(node);
  return step.env ? step.env->check_step({step.before, step.step}) : std::nullopt;
}

// The reason why the env cannot fork; empty: it can.
std::string cannot_fork(const SearchOptions& options, const env::EnvFactory& new_env) {
  const Tree::Beginning first = beginning(options, new_env, 0)();
  try {
    first.env->fork();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::string shortened(const Json& json) {
  const std::string text = to_text(json);
  return text.size() > 200 ? valid_utf8(text.substr(0, 200)) + "..." : text;
}

void require_same(const Journal& journal, std::uint64_t task) {
  if (const auto& divergence = journal.divergence())
    throw Error(
        "search: task {} cannot be resumed: played again, entry {} ({}) of its journal differs from the record. "
        "Recorded: {}; now: {}. Search it in another folder.",
        task, divergence->number, divergence->kind, shortened(divergence->recorded), shortened(divergence->now));
}

class SearchPool {
 public:
  SearchPool(agents::Policy& policy, StepCritic* critic, const SearchOptions& options, const SearchPlace& place,
             const env::EnvFactory& new_env, const std::string& instructions)
      : policy_(policy),
        critic_(critic),
        options_(options),
        place_(place),
        new_env_(new_env),
        instructions_(instructions),
        finished_(place.store->finished()) {}

  void run() {
    {
      std::vector<std::jthread> pool;
      const auto threads = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(options_.threads), 1, options_.tasks);
      for (std::uint64_t i = 0; i < threads; ++i) pool.emplace_back([this] { work(); });
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  bool stopped() const { return broken_ || (place_.stop && *place_.stop); }

  void work() {
    std::optional<net::HttpStop> stop_requests;
    if (place_.stop) stop_requests.emplace(*place_.stop);
    while (!stopped()) {
      const std::uint64_t task = next_++;
      if (task >= options_.tasks) return;
      if (finished_.contains({task, 0})) continue;
      try {
        record::Episode episode = search_with_retries(task);
        place_.store->record(std::move(episode));
        if (place_.done) place_.done();
      } catch (const SearchStopped&) {
        return;
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        broken_ = true;
      }
    }
  }

  record::Episode search_with_retries(std::uint64_t task) {
    for (int attempt = 0;; ++attempt) try {
        return search_task(task);
      } catch (const agents::PolicyGone&) {
        throw;
      } catch (const std::exception& error) {
        if (place_.stop && *place_.stop) throw SearchStopped();
        if (attempt == kRetries) return failed(task, error.what());
        place_.store->flush();  // the entries of this try are the past of the next try
      }
  }

  record::Episode search_task(std::uint64_t task) {
    Journal journal(
        task, past_of(task),
        [&](record::JournalEntry entry) {
          require_same(journal, task);
          place_.store->record_entry(std::move(entry));
        },
        place_.stop);
    Tree tree(&policy_, critic_, beginning(options_, new_env_, task), journal, tree_options(options_, instructions_));
    Answer answer;
    try {
      journal.reading(place_.run->path(), [&] {
        answer = search(tree, options_.method);
        journal.next_known("result", to_json(outcome_of(tree, answer, task)), {});
      });
    } catch (const Error&) {
      require_same(journal, task);  // the divergence explains more than the error that followed
      throw;
    }
    require_same(journal, task);
    record::Episode episode = tree.episode(std::max(answer.node, 0));
    episode.task_index = task;
    return episode;
  }

  std::vector<record::JournalEntry> past_of(std::uint64_t task) {
    const std::lock_guard lock(mutex_);
    return place_.run->journal(task);
  }

  record::Episode failed(std::uint64_t task, const std::string& why) const {
    record::Episode episode;
    episode.task_id = options_.suite ? options_.suite->task_id({options_.split, task, options_.seed})
                                     : fmt::format("{}/{}", env::to_string(options_.split), task);
    episode.task_index = task;
    episode.status = record::EpisodeStatus::failed;
    episode.failure = why;
    return episode;
  }

  agents::Policy& policy_;
  StepCritic* critic_;
  const SearchOptions& options_;
  const SearchPlace& place_;
  const env::EnvFactory& new_env_;
  const std::string& instructions_;
  const std::set<std::pair<std::uint64_t, int>> finished_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> broken_ = false;
  std::mutex mutex_;  // guards place_.run and failure_
  std::exception_ptr failure_;
};

// Envs for a suite: forks of one prepared env, or new envs if it cannot fork.
class SuiteEnvs {
 public:
  explicit SuiteEnvs(const env::Suite& suite) : suite_(suite), original_(suite.make_env()) { original_->prepare(); }
  std::unique_ptr<env::Env> make() {
    const std::lock_guard lock(mutex_);
    try {
      return original_->fork();
    } catch (const Error&) {
      return suite_.make_env();
    }
  }

 private:
  const env::Suite suite_;
  std::mutex mutex_;
  std::unique_ptr<env::Env> original_;
};

std::string failure_of(const record::RunReader& run, std::uint64_t task_index) {
  std::string failure;
  run.for_each(
      [&](const record::Episode& episode) {
        if (episode.task_index == task_index && episode.status == record::EpisodeStatus::failed)
          failure = episode.failure;
      },
      record::RunReader::Detail::without_turns);
  return failure;
}

}  // namespace

Json to_json(const SearchOutcome& outcome) {
  Json attempts = Json::object();
  for (const auto& [number, count] : outcome.attempts) attempts[std::to_string(number)] = count;
  return {{"task_index", outcome.task_index}, {"task_id", outcome.task_id},      {"kind", outcome.kind},
          {"level", outcome.level},           {"answered", outcome.answered},    {"success", outcome.success},
          {"exhausted", outcome.exhausted},   {"spent", to_json(outcome.spent)}, {"nodes", outcome.nodes},
          {"judged", outcome.judged},         {"invalid", outcome.invalid},      {"unknown", outcome.unknown},
          {"rejected", outcome.rejected},     {"unranked", outcome.unranked},    {"attempts", attempts}};
}

SearchOutcome outcome_in(const Json& json) {
  SearchOutcome outcome;
  json.at("task_index").get_to(outcome.task_index);
  json.at("task_id").get_to(outcome.task_id);
  json.at("kind").get_to(outcome.kind);
  json.at("level").get_to(outcome.level);
  json.at("answered").get_to(outcome.answered);
  json.at("success").get_to(outcome.success);
  json.at("exhausted").get_to(outcome.exhausted);
  outcome.spent = spent_in(json.at("spent"));
  json.at("nodes").get_to(outcome.nodes);
  json.at("judged").get_to(outcome.judged);
  json.at("invalid").get_to(outcome.invalid);
  json.at("unknown").get_to(outcome.unknown);
  json.at("rejected").get_to(outcome.rejected);
  json.at("unranked").get_to(outcome.unranked);
  for (const auto& [number, count] : json.at("attempts").items())
    outcome.attempts[std::stoi(number)] = whole_number(count, 0, std::numeric_limits<int>::max()).value_or(0);
  return outcome;
}

void search_tasks(agents::Policy& policy, StepCritic* critic, const SearchOptions& options, const SearchPlace& place,
                  const env::EnvFactory& new_env, const std::string& instructions) {
  const std::string& method = to_string(options.method.method);
  if (needs_critic(options.method) && !critic)
    throw Error("search: method {} asks a critic which steps to keep. Give --critic.", method);
  if (needs_forks(options.method.method))
    if (const std::string why = cannot_fork(options, new_env); !why.empty())
      throw Error(
          "search: method {} plays several futures of one task, and this env cannot be forked: {} Use greedy, "
          "best-of-n, majority, weighted-majority or guided.",
          method, why);
  SearchPool(policy, critic, options, place, new_env, instructions).run();
}

void search_tasks(agents::Policy& policy, StepCritic* critic, const SearchOptions& options, const SearchPlace& place) {
  SuiteEnvs envs(options.suite.value());
  search_tasks(
      policy, critic, options, place, [&] { return envs.make(); }, options.suite->info().instructions);
}

Replay replay(const SearchOptions& options, const record::RunReader& run, std::uint64_t task_index,
              agents::Policy* policy, StepCritic* critic) {
  std::vector<record::JournalEntry> past = run.journal(task_index);
  if (past.empty()) throw Error("replay: task {} has no search here. `agon show RUN` lists the tasks.", task_index);
  SuiteEnvs envs(options.suite.value());
  const env::EnvFactory new_env = [&] { return envs.make(); };
  const std::atomic<bool> stop_at_its_end = true;
  Journal journal(task_index, std::move(past), {}, &stop_at_its_end);
  if (policy) journal.compare();
  TreeOptions tree_like = tree_options(options, options.suite->info().instructions);
  tree_like.budget.wall_seconds.reset();  // the journal records where wall time ended
  tree_like.speculate = false;
  tree_like.keeps_envs = cannot_fork(options, new_env).empty();
  Tree tree(policy, critic, beginning(options, new_env, task_index), journal, tree_like);
  Replay replay;
  try {
    journal.reading(run.path(), [&] {
      try {
        const Answer answer = search(tree, options.method);
        replay.outcome = outcome_in(journal.next_known("result", to_json(outcome_of(tree, answer, task_index)), {}));
        replay.finished = true;
      } catch (const Error&) {
        if (!journal.divergence()) throw;  // else the divergence explains more than this error
      }
    });
  } catch (const SearchStopped&) {
  }
  replay.task = tree.task();
  for (int node = 0; node < tree.size(); ++node) {
    replay.nodes.push_back(tree.at(node));
    replay.labels.push_back(label_of(tree, node));
  }
  replay.asked_again = policy != nullptr;
  replay.divergence = journal.divergence();
  if (!replay.finished) replay.failure = failure_of(run, task_index);
  return replay;
}

}  // namespace agon::critic
