#include "env/suites/lookup/index.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/text.h"
#include "env/suites/lookup/world.h"
#include "tools/search/index_builder.h"
#include "tools/search/index_progress.h"
#include "tools/search/index_schema.h"
#include "tools/search/search_index.h"

namespace agon::env::lookup {
namespace {

namespace fs = std::filesystem;

// The folders that may hold the index, the best one first.
std::vector<fs::path> cache_folders() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base = cache && *cache ? fs::path(cache) : home && *home ? fs::path(home) / ".cache" : fs::path();
  std::vector<fs::path> folders;
  if (!base.empty()) folders.push_back(base / "agon");
  folders.push_back(fs::temp_directory_path() / fmt::format("agon-{}", getuid()));
  return folders;
}

// Throws Error if other users can write there, because they could choose what a search finds.
void make_own_folder(const fs::path& folder) {
  std::error_code ignored;  // the checks below report a folder that cannot be made
  fs::create_directories(folder.parent_path(), ignored);
  ::mkdir(folder.c_str(), 0700);
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
    throw Error("lookup: the folder {} cannot be made", folder.string());
  if (found.st_uid != ::geteuid() || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw Error("lookup: others can write into {} (of user {}, mode {:03o})", folder.string(), found.st_uid,
                found.st_mode & 0777);
}

std::string corpus_text() {
  std::string text;
  for (const tools::Document& document : lookup_documents())
    text += Json{{"id", document.id}, {"title", document.title}, {"text", document.text}}.dump() + "\n";
  return text;
}

// Nothing for a file that is absent or damaged.
std::shared_ptr<tools::SearchBackend> open_index(const fs::path& file) {
  if (!fs::exists(file)) return nullptr;
  try {
    auto index = std::make_shared<tools::SearchIndex>(file);
    return index->documents() == kLookupDocuments ? index : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

// Builds under a temporary name, then renames it into place, so that several processes may build the same index.
void build_index(const std::string& corpus, const fs::path& file) {
  std::string folder = file.string() + ".building-XXXXXX";
  if (!mkdtemp(folder.data())) throw Error("lookup: no folder {}: {}", folder, std::strerror(errno));
  try {
    write_file_atomically(folder + "/corpus.jsonl", corpus);
    tools::build_search_index(folder + "/corpus.jsonl", folder + "/index",
                              tools::show_progress("lookup: building its index, once for this user"));
    rename_durably(folder + "/index", file);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    throw;
  }
  fs::remove_all(folder);
}

}  // namespace

std::shared_ptr<tools::SearchBackend> lookup_index_in(const fs::path& folder) {
  const std::string corpus = corpus_text();
  const fs::path file = folder / fmt::format("lookup-{:016x}-{}.index", hash_text(corpus), tools::kIndexVersion);
  if (auto index = open_index(file)) return index;
  build_index(corpus, file);
  auto index = open_index(file);
  if (!index) throw Error("lookup: the index {} was built and cannot be read. Remove it and try again.", file.string());
  return index;
}

std::shared_ptr<tools::SearchBackend> lookup_index_in_one_of(const std::vector<fs::path>& folders) {
  std::string faults;
  for (const fs::path& folder : folders) try {
      make_own_folder(folder);
      return lookup_index_in(folder);
    } catch (const Error& error) {
      faults += fmt::format("{}{}", faults.empty() ? "" : "; ", error.what());
    }
  throw Error("{}. Set XDG_CACHE_HOME to a folder of your own that can be written.", faults);
}

std::shared_ptr<tools::SearchBackend> lookup_index() {
  static const std::shared_ptr<tools::SearchBackend> kIndex = lookup_index_in_one_of(cache_folders());
  return kIndex;
}

}  // namespace agon::env::lookup
