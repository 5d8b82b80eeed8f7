// agon eval-rm - measures how well a reward model, or a policy as judge, ranks responses whose ranks are known.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agents/engine/local_policy.h"
#include "cli/commands/commands.h"
#include "cli/flags/cache_flag.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/old_names.h"
#include "cli/flags/play_flags.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/paid.h"
#include "cli/printed_json.h"
#include "cli/provenance.h"
#include "cli/tables/ranking_table.h"
#include "core/error.h"
#include "core/progress.h"
#include "critic/reward_model/engine_reward_model.h"
#include "critic/reward_model/evaluation.h"

namespace agon::cli {
namespace {

struct EvalRmFlags {
  std::vector<std::string> files;
  std::string reward_model, judge, choose, cache;
  int orders = 4, max_tokens = 256;
  std::uint64_t seed = 0;
  bool json = false, no_swap = false;
};

// Sets whose responses all have the same rank are left out and counted.
std::vector<critic::Preference> read_all(const EvalRmFlags& flags, std::int64_t& passed_over) {
  std::vector<critic::Preference> all;
  for (const std::string& file : flags.files)
    for (critic::Preference& one : critic::read_preferences(file))
      if (critic::without_order(one))
        ++passed_over;
      else
        all.push_back(std::move(one));
  if (all.empty())
    throw Error(
        "eval-rm: in each of the {} sets all responses have one rank, so there is no order to measure. Give other "
        "sets.",
        passed_over);
  return all;
}

agents::PolicySource judge_of(const EvalRmFlags& flags) {
  agents::PolicySource source = find_policy(flags.judge.empty() ? flags.choose : flags.judge);
  use_cache(source, flags.cache);
  return source;
}

// A policy as judge, by pairs or by one choice.
std::vector<critic::ScoredSet> judged(const EvalRmFlags& flags, const std::vector<critic::Preference>& preferences,
                                      const critic::SetsDone& done, Json& extra) {
  agents::PolicySource source = judge_of(flags);
  const auto policy = agents::open_policy(source);
  critic::Judge judge(*policy, {.swap = !flags.no_swap, .max_tokens = flags.max_tokens, .seed = flags.seed});
  auto sets = flags.judge.empty() ? critic::chosen_by(judge, preferences, flags.seed, done)
                                  : critic::compared_by(judge, preferences, flags.seed, done);
  note_paid("eval-rm", {policy.get()});
  extra["judge"] = critic::counts_json(judge.counts());
  if (flags.judge.empty())
    for (const char* of_pairs : {"ties", "inconsistent"}) extra["judge"].erase(of_pairs);
  return sets;
}

std::vector<critic::ScoredSet> scored(const EvalRmFlags& flags, const std::vector<critic::Preference>& preferences,
                                      Json& extra) {
  const auto model = flags.reward_model.empty() ? nullptr : critic::open_reward_model(flags.reward_model);
  if (model) critic::require_each("eval-rm", preferences, [&](const critic::Candidates& set) { model->require(set); });
  if (!flags.choose.empty())
    critic::require_each("eval-rm", preferences,
                         [](const critic::Candidates& set) { critic::require_letters(set.responses.size()); });
  Progress progress("eval-rm", std::ssize(preferences), "sets");
  const critic::SetsDone done = [&](std::size_t sets) {
    progress.add(static_cast<std::int64_t>(sets));
    return !interrupted();
  };
  if (!model) return judged(flags, preferences, done, extra);
  critic::OrderSensitivity order;
  auto sets = critic::scored_by(*model, preferences, flags.orders, flags.seed, &order, done);
  if (flags.orders > 1)
    extra["order"] = {{"orders", flags.orders}, {"deviation", order.deviation}, {"best_changes", order.best_changes}};
  return sets;
}

std::string extra_text(const Json& extra) {
  if (extra.contains("order"))
    return fmt::format(
        "\nover {} orders of the responses a score deviates by {:.3f} of the deviation in its set; the best response "
        "changes in {:.3f} of the sets\n",
        extra["order"]["orders"].get<int>(), extra["order"]["deviation"].get<double>(),
        extra["order"]["best_changes"].get<double>());
  if (!extra.contains("judge")) return {};
  return "\n" + verdicts_text(extra["judge"]) + "\n";
}

std::string passed_over_text(std::int64_t without_order) {
  return without_order ? fmt::format("\n{} sets whose responses are all of one rank are excluded from all figures\n",
                                     without_order)
                       : std::string();
}

// What is evaluated.
agents::PolicySource rated_model(const EvalRmFlags& flags) {
  if (!flags.reward_model.empty()) return std::filesystem::path(flags.reward_model);
  return judge_of(flags);
}

void eval_rm(const EvalRmFlags& flags) {
  if (flags.reward_model.empty() + flags.judge.empty() + flags.choose.empty() != 2)
    throw WrongUsage("eval-rm: give one of --reward-model, --judge and --choose, the model to evaluate.");
  const agents::PolicySource rated = rated_model(flags);
  require_server("eval-rm", flags.cache, {&rated, 1});
  watch_interrupts();
  std::int64_t without_order = 0;
  const std::vector<critic::Preference> preferences = read_all(flags, without_order);
  Json extra = Json::object();
  const std::vector<critic::ScoredSet> sets = scored(flags, preferences, extra);
  if (interrupted()) throw Interrupted("eval-rm: stopped before its end, so there are no figures. Rerun the command.");
  const Json ranking = critic::ranking_json(sets);
  const std::string model =
      !flags.reward_model.empty() ? flags.reward_model : "judge " + (flags.judge.empty() ? flags.choose : flags.judge);
  const std::string text = ranking_table(
      {{{"data", fmt::format("{}", fmt::join(flags.files, ", "))}, {"model", model}, {"figures", ranking}}});
  if (flags.json) {
    Json figures = printed_ranking(ranking);
    figures.update(extra);
    figures["without_order"] = without_order;
    Json about{{flags.reward_model.empty() ? "policy" : "reward_model", policy_record(rated)},
               {"files", Json::array()}};
    for (const std::string& file : flags.files) about["files"].push_back(file_record(file));
    print_measured(std::move(figures), about);
  } else {
    print_text(text + extra_text(extra) + passed_over_text(without_order));
  }
}

}  // namespace

void add_eval_rm(CLI::App& app) {
  auto flags = std::make_shared<EvalRmFlags>();
  CLI::App* command = app.add_subcommand("eval-rm", "Measure how well a reward model or a judge ranks responses");
  command->add_option("--file", flags->files, "File of preferences (JSON lines)")
      ->type_name("<path>")
      ->required()
      ->allow_extra_args(false)
      ->group(kDataFlags);
  CLI::Option* reward_model =
      command->add_option("--reward-model", flags->reward_model, "Reward model folder to evaluate")
          ->type_name("<path>")
          ->group(kPolicyFlags);
  CLI::Option* judge =
      command
          ->add_option("--judge", flags->judge,
                       "Model folder or server of a judge that compares all pairs; the wins rank the responses")
          ->type_name("<path>")
          ->group(kPolicyFlags);
  command
      ->add_option("--choose", flags->choose,
                   "Model folder or server of a judge that names the best of all responses at once")
      ->type_name("<path>")
      ->group(kPolicyFlags);
  add_cache_option(*command, flags->cache)->group(kPolicyFlags);
  command->add_flag("--no-swap", flags->no_swap, "Show the judge each pair in one order only (with --judge)")
      ->needs(judge)
      ->group(kPolicyFlags);
  command->add_option("--max-tokens", flags->max_tokens, "Maximum number of tokens per verdict of a judge")
      ->check(whole_number_in(1, 1'000'000))
      ->capture_default_str()
      ->group(kPolicyFlags);
  command
      ->add_option("--orders", flags->orders,
                   "Orders of the responses in which --reward-model scores each set, to measure how much order matters")
      ->check(whole_number_in(1, 1000))
      ->capture_default_str()
      ->needs(reward_model)
      ->group(kPolicyFlags);
  command->add_option("--seed", flags->seed, "Seed of the drawn orders, and of a judge")
      ->capture_default_str()
      ->group(kDataFlags);
  add_old_name(*command, "--rm", "--reward-model");
  command->add_flag("--json", flags->json, "Print one JSON object")->group(kOutputFlags);
  command->callback([flags, command] {
    require_each_path_once("eval-rm", "--file", flags->files);
    require_used(*command, {{"--max-tokens", flags->reward_model.empty(), "with --reward-model, which writes nothing",
                             "give --judge or --choose"}});
    eval_rm(*flags);
  });
}

}  // namespace agon::cli
