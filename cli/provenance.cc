#include "cli/provenance.h"

#include <fmt/format.h>

#include <fstream>
#include <vector>

#include "agents/hub/peft_config.h"
#include "agents/model_fingerprint.h"
#include "cli/output.h"
#include "cli/printed_json.h"
#include "cli/version.h"
#include "core/hash.h"
#include "core/provenance.h"
#include "core/text.h"
#include "net/http_client.h"
#include "net/url.h"
#include "record/run_schema.h"

namespace agon::cli {
namespace {

// A word of the command line without the password of an address in it; also of --flag=URL.
std::string without_password(const std::string& word) {
  if (word.find("://") == std::string::npos) return valid_utf8(word);
  const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
  const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
  const std::size_t mark = word.find('#', begin);  // a model's name
  return valid_utf8(word.substr(0, begin) + net::public_url(word.substr(begin)) +
                    (mark == std::string::npos ? "" : word.substr(mark)));
}

}  // namespace

void record_program(int argc, const char* const* argv) {
  std::vector<std::string> words{"agon"};
  for (int i = 1; i < argc; ++i) words.push_back(without_password(argv[i]));
  const std::string both = version();  // "0.1.0 (commit 28fdaac3b1c2)"
  const std::size_t space = both.find(" (commit ");
  const std::string commit = space == std::string::npos ? "unknown" : both.substr(space + 9, both.size() - space - 10);
  set_program(both.substr(0, space), commit, words);
}

Json model_record(const std::filesystem::path& folder) {
  return {{"path", std::filesystem::absolute(folder).lexically_normal().string()},
          {"files", agents::model_fingerprint(folder)}};
}

Json policy_record(const agents::PolicySource& source) {
  if (source.endpoint) return to_json(*source.endpoint);
  Json record = model_record(source.folder);
  if (agents::is_adapter_folder(source.folder)) record["base"] = model_record(agents::base_of_adapter(source.folder));
  return record;
}

Json file_record(const std::filesystem::path& file) {
  return {{"path", std::filesystem::absolute(file).lexically_normal().string()},
          {"hash", fmt::format("{:016x}", hash_text(read_file(file.string())))}};
}

Json run_record(const std::filesystem::path& folder) {
  std::uint64_t hash = 0;
  const std::string database = (folder / record::kRunDatabase).string();
  for (const std::string& file : {database, database + "-wal"}) {  // -wal: the latest commits of a run in progress
    std::ifstream stream(file, std::ios::binary);
    std::string part(1 << 20, '\0');
    for (std::streamsize read; (read = stream.read(part.data(), std::ssize(part)).gcount()) > 0;)
      hash = hash_text(fmt::format("{:016x}", hash) + part.substr(0, static_cast<std::size_t>(read)));
  }
  return {{"path", std::filesystem::absolute(folder).lexically_normal().string()},
          {"hash", fmt::format("{:016x}", hash)}};
}

void print_measured(Json json, const Json& about) {
  const Json record = provenance(printed_provenance(about));
  if (json.is_object()) json[kProvenance] = record;
  if (json.is_array())
    for (Json& one : json) one[kProvenance] = record;
  print_json(json);
}

}  // namespace agon::cli
