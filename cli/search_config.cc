#include "cli/search_config.h"

#include <filesystem>

#include "cli/search_place.h"
#include "core/error.h"
#include "core/provenance.h"
#include "env/suite.h"
#include "record/run_kind.h"

namespace agon::cli {
namespace {

void require_same_file(const std::string& recorded, const env::Suite& suite) {
  const std::string hash = fmt::format("{:016x}", suite.info().file_hash);
  if (hash != recorded)
    throw Error(
        "{} is not the task file of the run: its hash is {}, and the run was made on {}. Give --file the "
        "file that was searched.",
        suite.options().file, hash, recorded);
}

// Where the run's task file was.
std::string recorded_file(const Json& config) {
  const Json::json_pointer place("/" + std::string(kProvenance) + "/file/path");
  const std::string path = config.contains(place) ? config.at(place).get<std::string>() : "";
  if (path.empty())
    throw Error("The tasks come from a file, and the run does not record its path. Give it with --file.");
  if (!std::filesystem::exists(path))
    throw Error("The task file of the run, {}, no longer exists. Give it with --file.", path);
  return path;
}

// A number from the run's config, in the range of its flag.
template <typename Number = int>
Number recorded(const Json& config, const char* key, Number low, Number high) {
  return whole_number_or_throw(config.at(key), fmt::format("the run's config: {}", key), low, high);
}

// The suite that was searched, with the file and the index at their current places.
env::Suite suite_in(const Json& config, const MovedInputs& moved) {
  env::SuiteOptions options;
  options.level = recorded(config, "level", 0, 1'000'000);
  options.file = config.contains("file") && moved.file.empty() ? recorded_file(config) : moved.file;
  options.search = search_place_in(config, moved.search);
  options.role = config.value("role", options.role);
  options.baseline = config.value("baseline", "");
  options.two_turn = config.value("two_turn", false);
  options.reexamine = config.value("reexamine", "");
  env::Suite suite(config.at("suite").get<std::string>(), options);
  if (config.contains("file")) require_same_file(config.at("file").get<std::string>(), suite);
  return suite;
}

}  // namespace

void add_search_config(const critic::SearchOptions& options, Json& config) {
  const critic::MethodOptions& method = options.method;
  config["method"] = to_string(method.method);
  config["n"] = method.n;
  config["width"] = method.width;
  config["attempts"] = method.attempts;
  config["rank"] = to_string(method.rank);
  config["keep"] = to_string(method.keep);
  config["retry"] = method.retry == critic::Retry::anew ? "anew" : "independent";
  config["budget"] = to_json(options.budget);
  config["search_version"] = critic::kSearchVersion;
}

critic::SearchOptions search_options_in(const Json& config, const MovedInputs& moved) {
  if (record::run_kind_of(config) != record::RunKind::search)
    throw Error("This run is not a search. Give the folder that `agon search` wrote.");
  const int version = config.at("search_version").get<int>();
  if (version != critic::kSearchVersion)
    throw Error(
        "The search is of version {}; this agon replays version {}. Replay it with the agon that wrote "
        "it.",
        version, critic::kSearchVersion);
  critic::SearchOptions options;
  options.suite = suite_in(config, moved);
  options.split = config.at("split") == "train" ? env::Split::train : env::Split::test;
  options.tasks = recorded<std::uint64_t>(config, "tasks", 0, 1'000'000'000);
  options.seed = recorded<std::uint64_t>(config, "seed", 0, ~std::uint64_t{0});
  options.sampling.temperature = config.at("temperature").get<double>();
  options.sampling.top_p = config.at("top_p").get<double>();
  options.sampling.max_tokens = recorded(config, "max_tokens", 1, 1'000'000);
  critic::MethodOptions& method = options.method;
  method.method = critic::parse_method(config.at("method").get<std::string>());
  method.n = recorded(config, "n", 1, 4096);
  method.width = recorded(config, "width", 1, 1024);
  method.attempts = recorded(config, "attempts", 1, 1024);
  method.rank = critic::parse_rank(config.at("rank").get<std::string>());
  method.keep = critic::parse_keep(config.at("keep").get<std::string>());
  method.retry = config.at("retry") == "anew" ? critic::Retry::anew : critic::Retry::independent;
  options.budget = critic::budget_in(config.at("budget"));
  return options;
}

}  // namespace agon::cli
