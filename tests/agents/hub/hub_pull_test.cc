#include "agents/hub/hub_pull.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/digest.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "core/text.h"
#include "temp_folder.h"
#include "wire/server.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using agon::test::http_reply;
using agon::test::WireReply;
using agon::test::WireRequest;
using agon::test::WireServer;
using Catch::Contains;

const std::string kCommit(40, 'a');

// Puts the hub's cache into a folder of the test.
struct OwnCache {
  OwnCache() { ::setenv("HF_HUB_CACHE", folder.path().c_str(), 1); }
  ~OwnCache() { ::unsetenv("HF_HUB_CACHE"); }
  agon::test::TempFolder folder;
  fs::path repository() const { return folder.path() / "models--org--name"; }
};

std::string sha256(const std::string& bytes) {
  Digest digest(Digest::Kind::sha256);
  digest.add(bytes);
  return digest.hex();
}

// A hub with these files; large files are behind a redirect. `change` may answer in its place.
struct Hub {
  std::map<std::string, std::string> files{{"config.json", "{}\n"},
                                           {"model.safetensors", std::string(300'000, 'w')},
                                           {"README.md", "not for a model folder"}};
  std::function<std::optional<WireReply>(const WireRequest&)> change;
  WireServer server{[this](const WireRequest& request) { return answer(request); }};

  WireReply answer(const WireRequest& request) const {
    if (change)
      if (auto changed = change(request)) return *changed;
    const std::string path = split(request.line, " ").at(1);
    if (path == "/api/models/org/name/revision/main") {
      Json listing{{"sha", kCommit}, {"siblings", Json::array()}};
      for (const auto& [name, bytes] : files) listing["siblings"].push_back({{"rfilename", name}});
      return http_reply(200, listing.dump());
    }
    const std::string name = path.substr(path.rfind('/') + 1);
    const auto found = files.find(name);
    if (found == files.end()) return http_reply(404, "{}");
    const std::string& bytes = found->second;
    if (request.line.starts_with("HEAD")) {
      const bool large = bytes.size() > 1000;
      const std::string told = fmt::format("ETag: \"{}\"\r\nX-Linked-Size: {}\r\n", sha256(bytes), bytes.size());
      return http_reply(large ? 302 : 200, "", told + (large ? "Location: " + elsewhere("/cdn/" + name) + "\r\n" : ""));
    }
    const std::size_t range = request.head.find("Range: bytes=");
    const std::size_t from = range == std::string::npos ? 0 : std::stoul(request.head.substr(range + 13));
    return http_reply(from > 0 ? 206 : 200, bytes.substr(from));
  }
  // The address of the same server by another host name, which clients take for another server.
  std::string elsewhere(const std::string& path) const {
    std::string url = server.url(path);
    return url.replace(url.find("127.0.0.1"), 9, "localhost");
  }
  HubServer at() const { return {.endpoint = server.url(""), .token = "hf_secret"}; }
};

void no_pull_progress(const std::string&, std::int64_t, std::int64_t) {}

TEST_CASE("pull: a model's files come into the hub's layout, once") {
  const OwnCache cache;
  const Hub hub;
  const HubName name = parse_hub_name("org/name");
  const fs::path snapshot = pull(hub.at(), name, no_pull_progress);
  CHECK(snapshot == cache.repository() / "snapshots" / kCommit);
  CHECK(read_file((snapshot / "config.json").string()) == "{}\n");
  CHECK(read_file((snapshot / "model.safetensors").string()) == hub.files.at("model.safetensors"));
  CHECK(fs::is_symlink(snapshot / "model.safetensors"));
  CHECK(fs::exists(cache.repository() / "blobs" / sha256(hub.files.at("model.safetensors"))));
  CHECK_FALSE(fs::exists(snapshot / "README.md"));
  CHECK(read_file((cache.repository() / "refs/main").string()) == kCommit);
  CHECK(find_cached(name) == snapshot);
  for (const WireRequest& request : hub.server.seen())  // the token is only for the hub, not for redirects
    CHECK((request.head.find("hf_secret") != std::string::npos) == (request.line.find("/cdn/") == std::string::npos));
  const int before = hub.server.requests();
  pull(hub.at(), name, no_pull_progress);
  CHECK(hub.server.requests() == before + 1);  // only the list of files
  CHECK(pull({.offline = true}, name, no_pull_progress) == snapshot);
  CHECK_THROWS_WITH(pull({.offline = true}, parse_hub_name("org/other"), no_pull_progress), Contains("HF_HUB_OFFLINE"));
  CHECK(pull(hub.at(), parse_hub_name("org/name:README.md"), no_pull_progress) == snapshot / "README.md");
}

TEST_CASE("pull: a connection that breaks off is continued where it was") {
  const OwnCache cache;
  Hub hub;
  int asked = 0;
  hub.change = [&](const WireRequest& request) -> std::optional<WireReply> {
    if (request.line.find("/cdn/") == std::string::npos || ++asked > 1) return std::nullopt;
    WireReply half = http_reply(200, hub.files.at("model.safetensors"));
    half.parts = {half.parts[0].substr(0, 150'000)};
    half.end = WireReply::End::close;
    return half;
  };
  const fs::path snapshot = pull(hub.at(), parse_hub_name("org/name"), no_pull_progress);
  CHECK(read_file((snapshot / "model.safetensors").string()) == hub.files.at("model.safetensors"));
  bool continued = false;
  for (const WireRequest& request : hub.server.seen())
    continued |= request.head.find("Range: bytes=14") != std::string::npos;
  CHECK(continued);
}

TEST_CASE("pull: a renamed repository is followed, and a half file that the server has no rest of is begun anew") {
  const OwnCache cache;
  Hub hub;
  bool refused = false;
  hub.change = [&](const WireRequest& request) -> std::optional<WireReply> {
    const std::string path = split(request.line, " ").at(1);
    if (const std::size_t old = path.find("org/old"); old != std::string::npos) {
      const std::string renamed = path.substr(0, old) + "org/name" + path.substr(old + 7);
      return http_reply(307, "",
                        fmt::format("Location: {}\r\n", path.starts_with("/api") ? hub.server.url(renamed) : renamed));
    }
    if (request.head.find("Range:") == std::string::npos) return std::nullopt;
    refused = true;
    return http_reply(416, "");
  };
  const std::string& weights = hub.files.at("model.safetensors");
  const fs::path blobs = cache.folder.path() / "models--org--old" / "blobs";
  fs::create_directories(blobs);
  write_file_atomically((blobs / (sha256(weights) + ".incomplete")).string(), weights.substr(0, 1000));
  const fs::path snapshot = pull(hub.at(), parse_hub_name("org/old"), no_pull_progress);
  CHECK(read_file((snapshot / "model.safetensors").string()) == weights);
  CHECK(refused);
}

TEST_CASE("pull: what is not what was told is refused, and nothing takes its name") {
  const OwnCache cache;
  Hub hub;
  std::string error;
  SECTION("another hash") {
    hub.change = [&](const WireRequest& request) -> std::optional<WireReply> {
      if (request.line.find("/cdn/") == std::string::npos) return std::nullopt;
      return http_reply(200, std::string(300'000, 'x'));
    };
    error = "has the hash";
  }
  SECTION("longer") {
    hub.change = [&](const WireRequest& request) -> std::optional<WireReply> {
      if (request.line.find("/cdn/") == std::string::npos) return std::nullopt;
      return http_reply(200, std::string(300'001, 'w'));
    };
    error = "is longer than the 300000 bytes";
  }
  SECTION("a page in place of the list") {
    hub.change = [&](const WireRequest& request) -> std::optional<WireReply> {
      if (request.line.find("/api/") == std::string::npos) return std::nullopt;
      return WireReply{{"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"}};
    };
    error = "text/html";
  }
  SECTION("a gated model") {
    hub.change = [&](const WireRequest&) { return std::optional(http_reply(401, "{}")); };
    error = "HF_TOKEN";
  }
  SECTION("no such repository") {
    hub.change = [&](const WireRequest&) { return std::optional(http_reply(404, "{}")); };
    error = "no such repository";
  }
  CHECK_THROWS_WITH(pull(hub.at(), parse_hub_name("org/name"), no_pull_progress), Contains(error));
  CHECK_FALSE(fs::exists(cache.repository() / "snapshots" / kCommit / "model.safetensors"));
  CHECK_FALSE(find_cached(parse_hub_name("org/name")));
}

TEST_CASE("hub names") {
  const HubName name = parse_hub_name("org/a.b-c@v1:sub/x.gguf");
  CHECK(name.repository == "org/a.b-c");
  CHECK(name.revision == "v1");
  CHECK(name.file == "sub/x.gguf");
  for (const char* bad : {"", "name", "org/", "/name", "org/name/more", "org/..", "org/name:", "org/name:../x", "a b/c",
                          "org/name@", "org/name:/etc/passwd"})
    CHECK_THROWS_AS(parse_hub_name(bad), Error);
}

TEST_CASE("digests are those of sha1sum and sha256sum") {
  Digest one(Digest::Kind::sha1), two(Digest::Kind::sha256);
  for (const char* part : {"a", "bc"}) one.add(part), two.add(part);
  CHECK(one.hex() == "a9993e364706816aba3e25717850c26c9cd0d89d");
  CHECK(two.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace agon::agents
