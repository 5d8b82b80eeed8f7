#include "agents/hub/hub_pull.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "core/digest.h"
#include "core/error.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "net/http_client.h"
#include "net/retry.h"
#include "net/url.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

constexpr double kDay = 24 * 3600, kStall = 30;  // seconds
constexpr std::size_t kMostListing = 64 << 20;   // bytes
constexpr std::int64_t kMostFile = 1ll << 42;

// The endpoint's description of a file.
struct RemoteFile {
  std::string url;  // where to download it
  std::string etag;
  std::int64_t bytes = 0;
};

class Puller {
 public:
  Puller(const HubServer& server, const HubName& name, const PullProgress& progress)
      : server_(server), name_(name), progress_(progress), repository_(cached_repository(name.repository)) {}

  fs::path run() {
    const Json listing = ask_listing();
    const std::string commit = commit_of(listing);
    for (const char* folder : {"blobs", "refs", "snapshots"}) make_folders(repository_ / folder);
    for (const std::string& file : wanted_files(listing)) fetch(commit, file);
    write_file_atomically((repository_ / "refs" / name_.revision).string(), commit);
    const fs::path snapshot = repository_ / "snapshots" / commit;
    return name_.file.empty() ? snapshot : snapshot / name_.file;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error("pull: {}: {}", name_.repository, what); }

  std::vector<std::string> headers() const {
    if (server_.token.empty()) return {};
    return {"Authorization: Bearer " + server_.token};
  }

  [[noreturn]] void fail_reply(const std::string& what, const net::HttpReply& reply) const {
    if (!reply.fault.empty()) fail(fmt::format("{}: {}. Check the network and HF_ENDPOINT.", what, reply.fault));
    if (reply.status == 401 || reply.status == 403)
      fail(fmt::format("{}: the hub refuses it (status {}). A gated model needs HF_TOKEN, and its terms accepted.",
                       what, reply.status));
    if (reply.status == 200 || reply.status == 206)
      fail(what + ": the server sent less than the hub reported. Try again");
    if (is_redirect(reply)) fail(fmt::format("{}: it has moved (status {}). Was it renamed?", what, reply.status));
    if (reply.status == 404) fail(what + ": there is no such repository, revision or file");
    fail(fmt::format("{}: status {}", what, reply.status));
  }

  // Follows at most three redirects of a renamed repository. Redirects to a file's storage are left to the caller.
  net::HttpReply ask(net::HttpRequest& request) const {
    net::HttpReply reply = net::request_with_retries(request, {});
    for (int i = 0; i < 3 && is_redirect(reply) && !reply.headers.contains("x-linked-size"); ++i) {
      const std::string location = reply.headers["location"];
      if (!location.starts_with("/") && !location.starts_with(server_.endpoint + "/")) break;
      request.url = (location.starts_with("/") ? server_.endpoint : "") + location;
      reply = net::request_with_retries(request, {});
    }
    return reply;
  }

  Json ask_listing() const {
    net::HttpRequest request;
    request.url = fmt::format("{}/api/models/{}/revision/{}", server_.endpoint, name_.repository, name_.revision);
    request.headers = headers();
    request.seconds = kStall;
    request.most_bytes = kMostListing;
    request.keeps_headers = true;
    const net::HttpReply reply = ask(request);
    if (reply.status != 200 || !reply.fault.empty()) fail_reply(net::public_url(request.url), reply);
    const ParsedJson parsed = parse_json(reply.body);
    if (!parsed.fault.empty())
      fail(fmt::format("{} answers {}, not the list of files: {}", net::public_url(request.url),
                       reply.content_type.empty() ? "something" : reply.content_type, parsed.fault));
    return parsed.value;
  }

  std::string commit_of(const Json& listing) const {
    const std::string commit = listing.is_object() && listing.contains("sha") && listing["sha"].is_string()
                                   ? listing["sha"].get<std::string>()
                                   : "";
    const bool whole = commit.size() == 40 && commit.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!whole) fail("the list of files names no commit");
    return commit;
  }

  std::vector<std::string> wanted_files(const Json& listing) const {
    std::vector<std::string> all, wanted;
    for (const Json& one : listing.value("siblings", Json::array()))
      if (one.is_object() && one.contains("rfilename") && one["rfilename"].is_string())
        all.push_back(one["rfilename"].get<std::string>());
    if (!name_.file.empty()) {
      if (std::find(all.begin(), all.end(), name_.file) == all.end())
        fail(fmt::format("there is no {}. There are: {}", name_.file, fmt::join(all, ", ")));
      return {name_.file};
    }
    for (const std::string& file : all)
      if (is_of_model(file)) wanted.push_back(file);
    if (std::none_of(wanted.begin(), wanted.end(), [](const auto& file) { return file.ends_with(".safetensors"); }))
      fail(fmt::format("it has no safetensors. Name one file: agon pull {}:FILE. There are: {}", name_.repository,
                       fmt::join(all, ", ")));
    return wanted;
  }
  // Whether a model folder needs the file. Only files at the top of the repository count.
  static bool is_of_model(const std::string& file) {
    constexpr std::string_view kNames[] = {
        "config.json",           "generation_config.json",   "tokenizer.json",
        "tokenizer_config.json", "chat_template.jinja",      "chat_template.json",
        "processor_config.json", "preprocessor_config.json", "video_preprocessor_config.json"};
    if (file.find('/') != std::string::npos) return false;
    return file.ends_with(".safetensors") || file.ends_with(".safetensors.index.json") ||
           std::find(std::begin(kNames), std::end(kNames), file) != std::end(kNames);
  }

  RemoteFile look_up(const std::string& commit, const std::string& file) const {
    net::HttpRequest request;
    request.url = fmt::format("{}/{}/resolve/{}/{}", server_.endpoint, name_.repository, commit, url_path(file));
    request.headers = headers();
    request.headers.push_back("Accept-Encoding: identity");  // so that content-length is the file's size
    request.seconds = kStall;
    request.head = request.keeps_headers = true;
    net::HttpReply reply = ask(request);
    if ((reply.status != 200 && !is_redirect(reply)) || !reply.fault.empty())
      fail_reply(net::public_url(request.url), reply);
    RemoteFile remote;
    remote.url = is_redirect(reply) ? reply.headers["location"] : request.url;
    remote.etag = etag_of(first_of(reply, "x-linked-etag", "etag"));
    const auto bytes = parse_number(first_of(reply, "x-linked-size", "content-length"));
    if (remote.etag.empty() || !bytes) fail(file + ": the hub reports no hash or no size for it");
    remote.bytes = *bytes;
    return remote;
  }
  static bool is_redirect(const net::HttpReply& reply) { return reply.status >= 300 && reply.status < 400; }
  static std::string first_of(const net::HttpReply& reply, const char* first, const char* second) {
    for (const char* name : {first, second})
      if (const auto found = reply.headers.find(name); found != reply.headers.end()) return found->second;
    return "";
  }
  static std::string etag_of(std::string_view header) {
    if (header.starts_with("W/")) header.remove_prefix(2);
    std::string etag;
    for (const char c : header)
      if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-') etag += c;
    return etag;
  }
  static std::optional<std::int64_t> parse_number(const std::string& text) {
    return text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos
               ? std::nullopt
               : std::optional<std::int64_t>(std::stoll(text));
  }
  static std::string url_path(const std::string& file) {
    std::string path;
    for (const std::string& part : split(file, "/")) path += (path.empty() ? "" : "/") + net::url_encode(part);
    return path;
  }

  void fetch(const std::string& commit, const std::string& file) {
    const fs::path link = repository_ / "snapshots" / commit / file;
    std::error_code ignored;
    if (fs::exists(link, ignored)) return;
    const RemoteFile remote = look_up(commit, file);
    const fs::path blob = repository_ / "blobs" / remote.etag;
    if (!fs::exists(blob, ignored)) download(file, remote, blob);
    make_folders(link.parent_path());
    fs::remove(link, ignored);
    fs::create_symlink(fs::relative(blob, link.parent_path()), link);
  }

  void download(const std::string& file, const RemoteFile& remote, const fs::path& blob) {
    const fs::path half = blob.string() + ".incomplete";
    FileLock lock(Descriptor(::open(half.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)));
    if (!lock) throw_write_error(half.string(), errno);
    if (!lock.try_lock()) fail(file + ": another process is fetching it. Wait until that one has finished");
    if (static_cast<std::int64_t>(fs::file_size(half)) > remote.bytes) fs::resize_file(half, 0);
    Rng rng = Rng::derive(fresh_seed(), "pull");
    net::Retries retries({.attempts = 6, .backoff_seconds = 1, .seconds = kDay}, rng);
    while (true) {
      const net::HttpReply reply = download_rest(file, remote, half);
      if (static_cast<std::int64_t>(fs::file_size(half)) == remote.bytes) break;
      const bool worth = net::worth_another_try(reply) || (reply.status == 416 && fs::file_size(half) == 0);
      if (!reply.stopped && worth && retries.wait(reply.retry_after)) continue;
      fail_reply(fmt::format("{} ({} of {} bytes are kept)", file, fs::file_size(half), remote.bytes), reply);
    }
    check_hash(file, remote, half);
    sync_file(half);
    rename_durably(half, blob);
  }

  net::HttpReply download_rest(const std::string& file, const RemoteFile& remote, const fs::path& half) {
    const auto before = static_cast<std::int64_t>(fs::file_size(half));
    if (before == remote.bytes) return {};
    AppendedFile out(half);
    std::int64_t done = before;
    net::HttpRequest request;
    request.url = remote.url;
    if (remote.url.starts_with(server_.endpoint + "/")) request.headers = headers();
    request.headers.push_back("Accept-Encoding: identity");
    if (before > 0) request.headers.push_back(fmt::format("Range: bytes={}-", before));
    request.seconds = kDay;
    request.stall_seconds = kStall;
    request.most_bytes = static_cast<std::size_t>(kMostFile);
    request.keeps_headers = true;
    std::exception_ptr failure;
    const net::HttpReply reply = net::http_request(request, [&](std::string_view bytes) {
      try {
        out.add(bytes);
      } catch (...) {
        failure = std::current_exception();
        return false;
      }
      done += std::ssize(bytes);
      progress_(file, std::min(done, remote.bytes), remote.bytes);
      return done <= remote.bytes;
    });
    if (failure) std::rethrow_exception(failure);
    // The server sent the whole file instead of the rest (200), or the range does not exist (416): start again.
    if (before > 0 && (reply.status == 200 || reply.status == 416)) fs::resize_file(half, 0);
    if (static_cast<std::int64_t>(fs::file_size(half)) > remote.bytes) {
      fs::resize_file(half, 0);
      fail(fmt::format("{} is longer than the {} bytes that the hub reported. Try again", file, remote.bytes));
    }
    return reply;
  }

  // An etag of 64 digits is a SHA-256, one of 40 is git's SHA-1; others do not identify the content.
  void check_hash(const std::string& file, const RemoteFile& remote, const fs::path& half) const {
    const bool is_git = remote.etag.size() == 40;
    if (!is_git && remote.etag.size() != 64) return;
    Digest digest(is_git ? Digest::Kind::sha1 : Digest::Kind::sha256);
    if (is_git) digest.add(std::string("blob ") + std::to_string(remote.bytes) + '\0');
    std::ifstream in(half, std::ios::binary);
    std::string bytes(1 << 20, '\0');
    while (in.read(bytes.data(), std::ssize(bytes)) || in.gcount() > 0)
      digest.add(std::string_view(bytes).substr(0, static_cast<std::size_t>(in.gcount())));
    if (const std::string found = digest.hex(); found != remote.etag) {
      fs::remove(half);
      fail(fmt::format("{} has the hash {}, but the hub reported {}. It was removed; try again", file, found,
                       remote.etag));
    }
  }

  const HubServer& server_;
  const HubName& name_;
  const PullProgress& progress_;
  const fs::path repository_;
};

}  // namespace

HubServer hub_server() {
  HubServer server;
  if (std::string endpoint = hub_variable("HF_ENDPOINT"); !endpoint.empty()) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    server.endpoint = endpoint;
  }
  server.token = hub_variable("HF_TOKEN");
  const fs::path file = hub_cache_folder().parent_path() / "token";
  std::error_code ignored;
  if (server.token.empty() && fs::exists(file, ignored)) server.token = trim(read_file(file.string()));
  if (server.token.find_first_of("\r\n") != std::string::npos) throw Error("pull: the hub's token has several lines.");
  const std::string offline = to_lower(hub_variable("HF_HUB_OFFLINE"));
  server.offline = offline == "1" || offline == "on" || offline == "yes" || offline == "true";
  return server;
}

fs::path pull(const HubServer& server, const HubName& name, const PullProgress& progress) {
  if (!server.offline) return Puller(server, name, progress).run();
  if (const auto cached = find_cached(name)) return *cached;
  throw Error("pull: {} is not in {}, and HF_HUB_OFFLINE forbids fetching it.", name.repository,
              hub_cache_folder().string());
}

}  // namespace agon::agents
