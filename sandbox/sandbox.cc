#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <boost/process.hpp>
#include <boost/process/extend.hpp>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "sandbox/connection.h"

namespace agon::sandbox {

namespace process = boost::process;

// The launcher's process and the socket to it.
class Launcher {
 public:
  explicit Launcher(const SandboxConfig& config);
  ~Launcher();
  // The reply; throws Error when the launcher refuses or is gone.
  Json ask(Json request);
  std::optional<Json> try_ask(Json request) { return connection_->ask(std::move(request)); }
  Tier tier() const { return tier_; }
  int process() const { return child_.id(); }

 private:
  std::unique_ptr<Connection> connection_;
  process::child child_;
  Tier tier_ = Tier::c;
};

namespace {

std::string launcher_path(const SandboxConfig& config) {
  std::string path = config.launcher;
  if (path.empty()) path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "agon-sandbox";
  if (!std::filesystem::exists(path)) throw Error("sandbox: there is no launcher at {}. script/build makes it", path);
  return path;
}

std::string text_of(const Json& value) { return {value.get_binary().begin(), value.get_binary().end()}; }

Json binary(const std::string& bytes) { return Json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end())); }

Result to_result(const Json& reply) {
  Result result;
  result.reason = reason_from(reply.at("reason").get<std::string>());
  result.tier = tier_from(reply.at("tier").get<std::string>());
  result.text = reply.at("text");
  result.out = reply.at("stdout");
  result.err = reply.at("stderr");
  result.dropped_bytes = reply.at("dropped_bytes");
  result.wall_s = reply.at("wall_s");
  result.cpu_s = reply.at("cpu_s");
  result.peak_memory = reply.at("peak_memory");
  result.alive = reply.at("alive");
  for (const Json& artifact : reply.at("artifacts"))
    result.artifacts.push_back({artifact.at("name"), text_of(artifact.at("bytes"))});
  return result;
}

}  // namespace

Launcher::Launcher(const SandboxConfig& config) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error("sandbox: no socket: {}", std::strerror(errno));
  connection_ = std::make_unique<Connection>(ends[0]);
  try {
    child_ = process::child(launcher_path(config), "3", process::environment(), process::posix::fd.bind(3, ends[1]),
                            process::std_in<process::null, process::std_out> process::null);
  } catch (const process::process_error& error) {
    close(ends[1]);
    throw Error("sandbox: the launcher could not be started: {}", error.what());
  }
  close(ends[1]);
  connection_->send({{"interpreter", config.interpreter},
                     {"modules", config.modules},
                     {"readable", config.readable},
                     {"floor", to_string(config.floor)},
                     {"best", to_string(config.best)}});
  const std::optional<Json> ready = connection_->receive();
  if (!ready) throw Error("sandbox: the launcher ended before it was ready");
  if (ready->value("event", "") != "ready") throw Error("sandbox: {}", ready->value("text", "the launcher failed"));
  tier_ = tier_from(ready->at("tier").get<std::string>());
}

Launcher::~Launcher() {
  connection_.reset();  // it ends with its socket
  std::error_code ignored;
  child_.wait(ignored);
}

Json Launcher::ask(Json request) {
  const std::optional<Json> reply = connection_->ask(std::move(request));
  if (!reply) throw Error("sandbox: the launcher is gone");
  if (reply->contains("error")) throw Error("sandbox: {}", reply->at("error").get<std::string>());
  return *reply;
}

Session::Session(std::shared_ptr<Launcher> launcher, int id) : launcher_(std::move(launcher)), id_(id) {}
Session::Session(Session&&) noexcept = default;

Session& Session::operator=(Session&& other) noexcept {
  std::swap(launcher_, other.launcher_);
  std::swap(id_, other.id_);
  return *this;
}

Session::~Session() {
  if (launcher_) launcher_->try_ask({{"do", "close"}, {"session", id_}});
}

Result Session::run(const CallRequest& request) {
  const std::optional<Json> reply = launcher_->try_ask({{"do", "run"},
                                                        {"session", id_},
                                                        {"name", request.name},
                                                        {"code", binary(request.code)},
                                                        {"artifacts", request.artifacts},
                                                        {"pictures", request.pictures}});
  if (reply && !reply->contains("error")) return to_result(*reply);
  Result lost;
  lost.tier = launcher_->tier();
  lost.text = reply ? reply->at("error").get<std::string>() : "the launcher is gone";
  return lost;
}

Session Session::fork() { return Session(launcher_, launcher_->ask({{"do", "fork"}, {"session", id_}}).at("session")); }

void Session::write(const std::string& name, const std::string& bytes) {
  launcher_->ask({{"do", "write"}, {"session", id_}, {"name", name}, {"bytes", binary(bytes)}});
}

std::string Session::read(const std::string& name) {
  return text_of(launcher_->ask({{"do", "read"}, {"session", id_}, {"name", name}}).at("bytes"));
}

Sandbox::Sandbox(const SandboxConfig& config) : launcher_(std::make_shared<Launcher>(config)) {}
Sandbox::~Sandbox() = default;
Session Sandbox::open(const Limits& limits) {
  return Session(launcher_, launcher_->ask({{"do", "open"}, {"limits", to_json(limits)}}).at("session"));
}
Tier Sandbox::tier() const { return launcher_->tier(); }
int Sandbox::process() const { return launcher_->process(); }

}  // namespace agon::sandbox
