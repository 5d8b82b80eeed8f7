#include "cli/search_place.h"

#include <filesystem>

#include "core/error.h"
#include "core/provenance.h"
#include "net/http_client.h"
#include "net/url.h"
#include "tools/search/open_search.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSearch = "search";

// Without the password, if it is a URL.
std::string name_of(const std::string& where) {
  if (tools::names_index(where)) return fs::absolute(where).lexically_normal().string();
  const std::size_t address = where.find("http");
  return address == std::string::npos ? where : where.substr(0, address) + net::public_url(where.substr(address));
}

std::string recorded(const Json& config) {
  if (config.at(kSearch).is_string()) return config.at(kSearch);  // older runs
  const Json::json_pointer place("/" + std::string(kProvenance) + "/" + kSearch + "/where");
  return config.value(place, std::string());
}

}  // namespace

void add_search_place(const std::string& where, Json& config) {
  if (where.empty()) return;
  config[kSearch] = tools::open_search({.where = where})->identity();
  config[kProvenance][kSearch] = {{"where", name_of(where)}, {"identity", config[kSearch]}};
}

std::string search_place_in(const Json& config, const std::string& given) {
  if (!config.contains(kSearch)) return given;
  const std::string where = given.empty() ? recorded(config) : given;
  if (!tools::names_index(where) || !config.at(kSearch).is_object()) return where;
  if (!fs::exists(where))
    throw Error("The index of the run, {}, {}. Give it with --search.", where,
                given.empty() ? "no longer exists" : "does not exist");
  const Json identity = tools::open_search({.where = where})->identity();
  if (identity != config.at(kSearch))
    throw Error(
        "{} is not the index of the run: it is {}, and the run searched {}. Give --search the one that was searched.",
        where, identity.dump(), config.at(kSearch).dump());
  return where;
}

}  // namespace agon::cli
