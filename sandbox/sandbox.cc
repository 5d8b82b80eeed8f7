#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <boost/process.hpp>
#include <boost/process/extend.hpp>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "sandbox/connection.h"

namespace agon::sandbox {

namespace process = boost::process;

// The launcher's process, and the socket to it.
class Launcher {
 public:
  explicit Launcher(const SandboxConfig& config);
  ~Launcher();
  // Returns the reply; throws Error if the launcher refuses or has ended.
  Json ask(Json request);
  std::optional<Json> try_ask(Json request) { return connection_->ask(std::move(request)); }
  Tier tier() const { return tier_; }
  const std::vector<MissedTier>& missed() const { return missed_; }
  int process() const { return child_.id(); }
  bool lost() const { return connection_->closed(); }
  int room() const { return room_; }

 private:
  void end();
  std::unique_ptr<Connection> connection_;
  process::child child_;
  Tier tier_ = Tier::c;
  int room_ = 0;
  std::vector<MissedTier> missed_;
};

namespace {

std::string launcher_path(const SandboxConfig& config) {
  std::string path = config.launcher;
  if (path.empty()) path = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "agon-sandbox";
  if (!std::filesystem::exists(path)) throw Error("sandbox: there is no launcher at {}. Run script/build", path);
  return path;
}

// The variables by which another backend's program is found and finds its engine and images.
std::vector<std::string> backend_environment(Backend backend) {
  std::vector<std::string> environment;
  if (backend == Backend::native) return environment;
  for (const char* name : {"PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT"})
    if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
  return environment;
}

Json binary(const std::string& bytes) { return Json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end())); }

}  // namespace

Launcher::Launcher(const SandboxConfig& config) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error("sandbox: no socket: {}", std::strerror(errno));
  connection_ = std::make_unique<Connection>(Descriptor(ends[0]));
  Descriptor theirs(ends[1]);
  try {
    child_ =
        process::child(launcher_path(config), "3", process::environment(), process::posix::fd.bind(3, theirs.get()),
                       process::std_in<process::null, process::std_out> process::null);
  } catch (const process::process_error& error) {
    throw Error("sandbox: the launcher could not be started: {}", error.what());
  }
  theirs.reset();  // only the launcher keeps it: when the launcher ends, so does the connection
  connection_->send({{"backend", to_string(config.backend)},
                     {"environment", backend_environment(config.backend)},
                     {"interpreter", config.interpreter},
                     {"modules", config.modules},
                     {"readable", config.readable},
                     {"floor", to_string(config.floor)},
                     {"best", to_string(config.best)}});
  const std::optional<Json> ready = connection_->receive();
  if (!ready || ready->value("event", "") != "ready") {
    end();
    throw Error("sandbox: {}",
                ready ? ready->value("text", "the launcher failed") : "the launcher ended before it was ready");
  }
  tier_ = tier_from(ready->at("tier").get<std::string>());
  room_ = ready->at("room");
  for (const Json& one : ready->at("missed"))
    missed_.push_back({tier_from(one.at("tier").get<std::string>()), one.at("why")});
}

Launcher::~Launcher() { end(); }

void Launcher::end() {
  connection_.reset();  // the launcher ends when its socket closes
  std::error_code ignored;
  child_.wait(ignored);
}

Json Launcher::ask(Json request) {
  const std::optional<Json> reply = connection_->ask(std::move(request));
  if (!reply) throw Error("sandbox: the launcher is gone");
  if (reply->contains("error")) throw Error("sandbox: {}", reply->at("error").get<std::string>());
  return *reply;
}

Session::Session(std::shared_ptr<Launcher> launcher, int id, std::uint64_t seed)
    : launcher_(std::move(launcher)), id_(id), seed_(seed) {}
Session::Session(Session&&) noexcept = default;

Session& Session::operator=(Session&& other) noexcept {
  std::swap(launcher_, other.launcher_);
  std::swap(id_, other.id_);
  std::swap(seed_, other.seed_);
  std::swap(forks_, other.forks_);
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
                                                        {"pictures", request.pictures},
                                                        {"show_bools", request.show_bools},
                                                        {"wall", request.wall}});
  Result lost;
  lost.tier = launcher_->tier();
  lost.text = reply ? reply->value("error", "") : "the launcher is gone";
  if (!lost.text.empty()) return lost;
  try {
    return result_from_json(*reply);
  } catch (const Error& error) {
    lost.text = error.what();
    return lost;
  }
}

Session Session::fork() {
  const std::uint64_t seed = Rng::derive(seed_, "fork", {}, ++forks_)();
  const std::optional<Json> reply = launcher_->try_ask({{"do", "fork"}, {"session", id_}, {"seed", seed}});
  if (!reply) throw ForkRefused(Reason::sandbox_lost, "the launcher is gone");
  if (reply->contains("error"))
    throw ForkRefused(reason_from(reply->at("reason").get<std::string>()), reply->at("error"));
  return Session(launcher_, reply->at("session"), seed);
}

bool Session::lost() const { return launcher_->lost(); }

void Session::write(const std::string& name, const std::string& bytes) {
  launcher_->ask({{"do", "write"}, {"session", id_}, {"name", name}, {"bytes", binary(bytes)}});
}

std::string Session::read(const std::string& name) {
  const Json reply = launcher_->ask({{"do", "read"}, {"session", id_}, {"name", name}});
  return {reply.at("bytes").get_binary().begin(), reply.at("bytes").get_binary().end()};
}

Sandbox::Sandbox(const SandboxConfig& config) : launcher_(std::make_shared<Launcher>(config)) {}
Sandbox::~Sandbox() = default;
Session Sandbox::open(const Limits& limits, std::uint64_t seed) {
  const Json reply = launcher_->ask({{"do", "open"}, {"limits", to_json(limits)}, {"seed", seed}});
  return Session(launcher_, reply.at("session"), seed);
}
int Sandbox::room() const { return launcher_->room(); }
Tier Sandbox::tier() const { return launcher_->tier(); }
const std::vector<MissedTier>& Sandbox::missed() const { return launcher_->missed(); }
int Sandbox::process() const { return launcher_->process(); }
bool Sandbox::lost() const { return launcher_->lost(); }

}  // namespace agon::sandbox
