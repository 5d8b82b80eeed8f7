// agon eval - plays several suites with one or several policies and prints one table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "agents/engine/local_policy.h"
#include "cli/commands/commands.h"
#include "cli/flags/cache_flag.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/play_flags.h"
#include "cli/flags/usage.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/play.h"
#include "cli/policy_needs.h"
#include "cli/provenance.h"
#include "cli/tables/eval_table.h"
#include "core/error.h"
#include "core/provenance.h"
#include "record/run_database.h"
#include "record/run_reader.h"
#include "record/run_schema.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct EvalFlags {
  PlayFlags play;
  std::vector<std::string> suites = {"charts"}, policies;
  std::string cache, out;
  bool resume = false, json = false;
};

// Each run gets its own folder below `out`, so `out` must not hold a run itself.
void require_own_folder(const fs::path& out) {
  if (!fs::exists(out / record::kRunDatabase)) return;
  const std::string command = record::recording_command(out);
  throw Error("eval: {} holds a run{}. Choose another --out: each run of an evaluation has a folder below it.",
              out.string(), command.empty() ? "" : " of agon " + command);
}

struct EvaluatedPolicy {
  agents::PolicySource source;
  fs::path path;     // of the folder, or the server's address and model
  std::string name;  // as many last parts of the path as are needed to make it unique
};

std::string last_parts(const fs::path& path, std::size_t count) {
  const std::vector<fs::path> parts(path.begin(), path.end());
  fs::path last;
  for (std::size_t i = parts.size() - std::min(count, parts.size()); i < parts.size(); ++i)
    if (!parts[i].has_root_directory()) last /= parts[i];
  return last.string();
}

// Its last part names the policy: a model, or a server whose address names none.
fs::path path_of(const agents::PolicySource& source) {
  if (!source.endpoint) return source.folder;
  std::string server = source.endpoint->url;
  if (server.ends_with("/v1")) server.resize(server.size() - 3);
  return source.endpoint->model.empty() ? server : server + "/" + source.endpoint->model;
}

std::vector<EvaluatedPolicy> named_policies(const std::vector<std::string>& flags, const std::string& cache) {
  std::vector<EvaluatedPolicy> policies;
  for (const std::string& flag : flags.empty() ? std::vector<std::string>{""} : flags) {
    agents::PolicySource source = find_policy(flag);
    use_cache(source, cache);
    if (!source.endpoint) source.folder = fs::canonical(source.folder);
    const fs::path path = path_of(source);
    policies.push_back({std::move(source), path, ""});
  }
  std::vector<agents::PolicySource> sources;
  for (const EvaluatedPolicy& policy : policies) sources.push_back(policy.source);
  require_server("eval", cache, sources);
  const auto same_name = [&](const EvaluatedPolicy& one, std::size_t parts) {
    return std::count_if(policies.begin(), policies.end(), [&](const EvaluatedPolicy& other) {
      return last_parts(other.path, parts) == last_parts(one.path, parts);
    });
  };
  for (EvaluatedPolicy& policy : policies) {
    const auto longest = static_cast<std::size_t>(std::distance(policy.path.begin(), policy.path.end()));
    std::size_t parts = 1;
    while (parts < longest && same_name(policy, parts) > 1) ++parts;
    if (same_name(policy, parts) > 1)
      throw WrongUsage("eval: policy {} is given twice. Give it once.", policy.path.string());
    policy.name = last_parts(policy.path, parts);
  }
  return policies;
}

std::vector<agents::RolloutOptions> options_of(const EvalFlags& flags) {
  const auto takes_file = [](const std::string& suite) {
    return of_flags([&] { return env::Suite(suite).info().takes_file; });
  };
  const bool with_file = std::any_of(flags.suites.begin(), flags.suites.end(), takes_file);
  std::vector<agents::RolloutOptions> all;
  for (const std::string& suite : flags.suites) {
    PlayFlags fitting = flags.play;
    if (with_file && !takes_file(suite)) {
      fitting.file.clear();
      fitting.check = "ends";
    }
    all.push_back(rollout_options(fitting, suite));
  }
  return all;
}

// One policy on one suite.
struct Evaluated {
  EvalRow row;
  RunPlace place;
  PlayedRun run;
};

// Suite by suite, the policies in the order of the flags.
std::vector<Evaluated> evaluate(const EvalFlags& flags) {
  std::vector<EvaluatedPolicy> policies = named_policies(flags.policies, flags.cache);
  const std::vector<agents::RolloutOptions> suites = options_of(flags);
  fs::path out = flags.out;
  std::vector<Evaluated> all(suites.size() * policies.size());
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const auto policy = agents::open_policy(policies[p].source);
    for (const agents::RolloutOptions& suite : suites) require_plays("eval", policy->capabilities(), suite);
    if (out.empty()) out = default_folder("eval");
    for (std::size_t s = 0; s < suites.size(); ++s) {
      const std::string& name = policies[p].name;
      const std::string& suite = suites[s].suite.name();
      const RunPlace place{out / name / suite, flags.resume, fmt::format("--out {} --resume", out.string())};
      PlayedRun run = play_into(place, *policy, suites[s], run_config(suites[s], policies[p].source),
                                fmt::format("eval {} {}", name, suite));
      all[s * policies.size() + p] = {{suite, name, place.folder.string(), run.summary, {}}, place, std::move(run)};
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const Evaluated& first = all[i - i % policies.size()]; &first != &all[i])
      all[i].row.difference = agents::compare(first.run.outcomes, all[i].run.outcomes, flags.play.seed);
  return all;
}

void eval(const EvalFlags& flags) {
  if (flags.resume && flags.out.empty())
    throw WrongUsage("eval: --resume needs --out, the folder of the evaluation to resume.");
  require_each_once("eval", "--suite", flags.suites);
  if (!flags.out.empty()) require_own_folder(flags.out);
  const std::vector<Evaluated> all = evaluate(flags);
  std::vector<EvalRow> rows;
  for (const Evaluated& one : all) rows.push_back(one.row);
  if (flags.json) {
    Json about{{"policies", Json::array()}};
    for (const EvaluatedPolicy& policy : named_policies(flags.policies, flags.cache))
      about["policies"].push_back(policy_record(policy.source));
    const Json made = record::RunReader::open(all.front().place.folder)->config().value(kProvenance, Json::object());
    for (const char* input : {"file", "search"})
      if (made.contains(input)) about[input] = made.at(input);
    print_measured(eval_json(rows), about);
  } else {
    print_text(eval_table(rows) + "\n");
    for (const EvalRow& row : rows) std::cout << "run: " << row.run << std::endl;
  }
  for (const Evaluated& one : all) require_none_failed(one.run, one.place, "eval");
}

}  // namespace

void add_eval(CLI::App& app) {
  auto flags = std::make_shared<EvalFlags>();
  flags->play.command = "eval";
  CLI::App* command = app.add_subcommand("eval", "Compare policies on several suites, in one table");
  command->add_option("--suite", flags->suites, "Suite to play; 'agon suites' lists them")
      ->type_name("<name>")
      ->capture_default_str()
      ->group(kDataFlags);
  command
      ->add_option("--policy", flags->policies,
                   "Model folder or server; each later one is compared with the first (default: models/agon-tiny)")
      ->type_name("<path>")
      ->group(kPolicyFlags);
  add_cache_option(*command, flags->cache)->group(kPolicyFlags);
  add_play_options(*command, flags->play);
  command
      ->add_option("--out", flags->out, "Folder of the runs, each in POLICY/SUITE below it (default: runs/eval-<time>)")
      ->type_name("<path>")
      ->group(kOutputFlags);
  command->add_flag("--resume", flags->resume, "Resume the evaluation in --out")->group(kOutputFlags);
  command->add_flag("--json", flags->json, "Print one JSON object")->group(kOutputFlags);
  command->callback([flags, command] {
    settle_samples(*command, flags->play);
    eval(*flags);
  });
}

}  // namespace agon::cli
