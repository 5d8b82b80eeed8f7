#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "agents/remote/generation_cache.h"
#include "cli/commands/commands.h"
#include "cli/flags/usage.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::cli {
namespace {

struct CacheFlags {
  std::string action = "stats", model;
  bool all = false, json = false;
};

agents::CachedModel sum_of(const std::vector<agents::CachedModel>& models) {
  agents::CachedModel sum;
  for (const agents::CachedModel& one : models) {
    sum.generations += one.generations;
    sum.prompt_tokens += one.prompt_tokens;
    sum.tokens += one.tokens;
    sum.bytes += one.bytes;
    sum.last = std::max(sum.last, one.last);
  }
  return sum;
}

Json json_of(const agents::CachedModel& model) {
  return {{"generations", model.generations},
          {"prompt_tokens", model.prompt_tokens},
          {"tokens", model.tokens},
          {"bytes", model.bytes},
          {"last_recorded", model.last.empty() ? Json() : Json(model.last)}};
}

void print_models(const std::vector<agents::CachedModel>& models) {
  fmt::print("{:<40} {:>11} {:>13} {:>10} {:>12}  {}\n", "model", "generations", "prompt tokens", "tokens", "bytes",
             "last recorded");
  for (const agents::CachedModel& one : models)
    fmt::print("{:<40} {:>11} {:>13} {:>10} {:>12}  {}\n", printable_line(one.model), one.generations,
               one.prompt_tokens, one.tokens, one.bytes, one.last);
}

void remove(agents::GenerationCache& cache, const CacheFlags& flags) {
  if (flags.all == !flags.model.empty())
    throw WrongUsage("cache: rm needs a model's name, or --all. 'agon cache ls' lists the models.");
  std::int64_t removed = 0;
  for (const agents::CachedModel& one : cache.models())
    if (flags.all || one.model == flags.model) removed += cache.remove(one.model);
  if (removed == 0 && !flags.all)
    throw Error("cache: nothing of the model '{}' is kept. 'agon cache ls' lists the models.", flags.model);
  if (flags.json)
    print_measured({{"removed", removed}});
  else
    fmt::print("{} generations removed\n", removed);
}

void show(agents::GenerationCache& cache, const CacheFlags& flags, const std::string& file) {
  const std::vector<agents::CachedModel> models = cache.models();
  if (flags.json) {
    Json json{{"file", file}, {"all", json_of(sum_of(models))}, {"models", Json::object()}};
    for (const agents::CachedModel& one : models) json["models"][one.model] = json_of(one);
    return print_measured(std::move(json));
  }
  if (flags.action == "ls") return print_models(models);
  const agents::CachedModel all = sum_of(models);
  fmt::print("{}\n{} generations of {} models: {} prompt tokens, {} tokens, {} bytes\n", file, all.generations,
             models.size(), all.prompt_tokens, all.tokens, all.bytes);
}

void run_cache(const CacheFlags& flags) {
  const std::string file = agents::generation_cache_file().string();
  const bool removes = flags.action == "rm";
  if (!removes && (flags.all || !flags.model.empty()))
    throw WrongUsage("cache: {} takes no model and no --all: they are for rm.", flags.action);
  agents::GenerationCache cache(file, !removes);
  removes ? remove(cache, flags) : show(cache, flags, file);
}

}  // namespace

void add_cache(CLI::App& app) {
  auto flags = std::make_shared<CacheFlags>();
  CLI::App* command = app.add_subcommand("cache", "Show or clear the cache of servers' generations");
  command->add_option("ACTION", flags->action, "What to do: stats, ls (a line per model) or rm")
      ->check(one_of({"stats", "ls", "rm"}))
      ->capture_default_str();
  command->add_option("MODEL", flags->model, "Model whose generations rm removes")->type_name("<name>");
  command->add_flag("--all", flags->all, "Remove the generations of every model (rm)");
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags] { run_cache(*flags); });
}

}  // namespace agon::cli
