#include "serve/model_server.h"

#include <arpa/inet.h>
#include <malloc.h>

#include <chrono>
#include <cmath>
#include <ctime>

#include "core/error.h"
#include "core/text.h"
#include "serve/api_error.h"
#include "serve/chat_request.h"
#include "serve/chat_tools.h"
#include "serve/completion_request.h"
#include "serve/generation.h"
#include "serve/metrics.h"
#include "serve/reward_answer.h"
#include "serve/step_answer.h"
#include "serve/tokenize.h"
#include "tools/search/retrieve_server.h"

namespace agon::serve {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kTimesRead = 3;       // memory of a request while it is parsed, in multiples of its size
constexpr std::size_t kToldBytes = 512;     // approximate size of a log-probability in the answer's JSON
constexpr std::size_t kTrimmed = 64 << 20;  // a request that held more returns its memory to the system

bool is_loopback(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  if (host == "localhost") return true;
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  return ::inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

const char* code_of(int status) {
  switch (status) {
    case 401:
      return "invalid_api_key";
    case 404:
      return "not_found";
    case 405:
      return "method_not_allowed";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_exceeded";
    case 431:
      return "headers_too_large";
    case 501:
      return "not_implemented";
    case 503:
      return "overloaded";
    default:
      return status >= 500 ? "internal_error" : "invalid_request";
  }
}

// Bytes that the work on a request holds in addition to its body.
class HeldBytes {
 public:
  explicit HeldBytes(net::ByteBudget& budget) : lease_(budget) {}
  // Otherwise each arena of the allocator would keep the memory of one large answer.
  ~HeldBytes() {
    if (lease_.bytes() > kTrimmed) ::malloc_trim(0);
  }
  bool add(std::size_t bytes) { return lease_.resize(lease_.bytes() + bytes); }

 private:
  net::ByteBudget::Lease lease_;
};

}  // namespace

struct ModelServer::Implementation {
  Implementation(ServedModels served, const ModelServerOptions& wanted)
      : models(std::move(served)), server(options_of(wanted), routes(wanted)) {}

  using Handler = net::HttpServerAnswer (Implementation::*)(const SortedJson& body, const net::HttpServerRequest&,
                                                            HeldBytes&);

  net::HttpServerOptions options_of(const ModelServerOptions& wanted) {
    most_held = wanted.limits.most_held_bytes;
    deadline_seconds = wanted.deadline;
    if (wanted.key.empty() && !is_loopback(wanted.host))
      throw Error(
          "serve: other machines can reach --host {}, and there is no key. Set the environment variable AGON_API_KEY, "
          "which clients then send as bearer token, or listen on 127.0.0.1.",
          wanted.host);
    net::HttpServerOptions options{wanted.host, wanted.port, wanted.in_flight, wanted.most_request_bytes,
                                   wanted.limits};
    options.limits.waiting = wanted.queue;
    options.bearer = wanted.key;
    options.error_body = [this](int status, std::string_view why) {
      metrics.count_refused(status);
      return error_body({status, std::string(why), code_of(status)});
    };
    return options;
  }

  std::vector<net::HttpRoute> routes(const ModelServerOptions& wanted) {
    std::vector<net::HttpRoute> routes{get("/health", [this] { return health(); }),
                                       get("/metrics", [this] { return told_metrics(); }),
                                       get("/v1/models", [this] { return listed_models(); })};
    routes.front().open = true;
    for (const Json& model : model_list())
      routes.push_back(get("/v1/models/" + model.at("id").get<std::string>(), [model] {
        return net::HttpServerAnswer{200, to_text(model), {}};
      }));
    routes.push_back(post("/v1/chat/completions", &Implementation::chat));
    routes.push_back(post("/v1/completions", &Implementation::complete));
    routes.push_back(post("/tokenize", &Implementation::tokenize));
    routes.push_back(post("/detokenize", &Implementation::detokenize));
    for (const char* path : {"/v1/score", "/score"}) routes.push_back(post(path, &Implementation::score));
    for (const char* path : {"/v1/rerank", "/rerank", "/v2/rerank"})
      routes.push_back(post(path, &Implementation::rerank));
    routes.push_back(post("/pooling", &Implementation::pool));
    if (models.search) {
      tools::RetrieveServerOptions retrieve;
      retrieve.limits = wanted.limits;
      net::HttpRoute route = tools::retrieve_route(models.search, retrieve);
      route.answer = counted(route.path, std::move(route.answer));
      routes.push_back(std::move(route));
    }
    return routes;
  }

  template <typename Answer>
  static net::HttpRoute get(const std::string& path, Answer answer) {
    return {"GET", path, true, [answer](const net::HttpServerRequest&) { return answer(); }};
  }

  net::HttpRoute post(const std::string& path, Handler handler) {
    net::HttpRoute route{"POST", path, false, counted(path, [this, handler](const net::HttpServerRequest& request) {
                           return answered_by(handler, request);
                         })};
    route.ends_with_client = true;
    return route;
  }

  using Answer = std::function<net::HttpServerAnswer(const net::HttpServerRequest&)>;
  Answer counted(const std::string& path, Answer answer) {
    return [this, path, answer = std::move(answer)](const net::HttpServerRequest& request) {
      const Clock::time_point start = Clock::now();
      net::HttpServerAnswer said = answer(request);
      const std::chrono::duration<double> seconds = Clock::now() - start;
      if (request.stop)
        metrics.count_cancelled();
      else
        metrics.count_request(path, said.status, request.waited + seconds.count());
      ++answered;
      return said;
    };
  }

  net::HttpServerAnswer answered_by(Handler handler, const net::HttpServerRequest& request) {
    try {
      HeldBytes held(request.budget);
      if (!held.add(kTimesRead * request.body.size()))
        throw Refused{{503, "too many requests are under way; try again later.", "overloaded"}};
      const SortedJson body = read_body(request.body);
      return (this->*handler)(body, request, held);
    } catch (const Refused& refusal) {
      return answer_of(refusal.error);
    } catch (const std::exception& error) {
      return answer_of({500, error.what(), "internal_error"});
    }
  }

  // Number of log-probabilities in the answer, alternatives included.
  std::size_t told_values(const Generation& generation) const {
    const AnswerOptions& options = generation.options;
    std::size_t values = 0;
    for (const agents::GenerationRequest& request : generation.requests) {
      const std::size_t prompt = request.prompt.ids.size(), n = static_cast<std::size_t>(request.n);
      if (options.prompt_logprobs) values += prompt * static_cast<std::size_t>(*options.prompt_logprobs + 1);
      if (!options.logprobs) continue;
      const std::size_t room = static_cast<std::size_t>(models.policy->max_context()) - prompt;
      const std::size_t written = std::min(room, static_cast<std::size_t>(request.sampling.max_tokens));
      values += n * (written + (options.echo ? prompt : 0)) * static_cast<std::size_t>(options.top_logprobs + 1);
    }
    return values;
  }

  void hold_told(HeldBytes& held, const Generation& generation) const {
    const std::size_t values = told_values(generation), bytes = values * kToldBytes;
    if (bytes > most_held)
      throw Refused{{400,
                     fmt::format("the answer would hold {} log-probabilities; at most {} are possible. Ask for fewer "
                                 "tokens, prompts or alternatives.",
                                 values, most_held / kToldBytes),
                     "invalid_value", "logprobs"}};
    if (!held.add(bytes))
      throw Refused{{503, "too many log-probabilities are under way; try again later.", "overloaded"}};
  }

  agents::Deadline deadline_of(const net::HttpServerRequest& request) const {
    if (deadline_seconds <= 0) return agents::kNoDeadline;
    const std::chrono::duration<double> left(deadline_seconds - request.waited);
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(left);
  }

  static net::HttpServerAnswer said(const Json& json) { return {200, to_text(json), {}}; }
  PictureLimits limits_of(HeldBytes& held) {
    PictureLimits limits;
    limits.hold = [&held](std::size_t bytes) { return held.add(bytes); };
    limits.known = &pictures;
    return limits;
  }

  net::HttpServerAnswer health() const { return said({{"status", "ok"}}); }

  net::HttpServerAnswer told_metrics() const {
    const net::HttpServerLoad requests = server.load();
    const agents::EngineLoad batch = models.policy ? models.policy->engine().load() : agents::EngineLoad{};
    net::HttpServerAnswer answer;
    answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
    answer.body = metrics.text({requests.working, requests.waiting, batch.running, batch.waiting});
    return answer;
  }

  Json model_list() const {
    Json list = Json::array();
    const auto add = [&](const std::string& name) -> Json& {
      return list.emplace_back(Json{{"id", name}, {"object", "model"}, {"created", started}, {"owned_by", "agon"}});
    };
    if (models.policy) {
      add(models.policy->name())["max_model_len"] = models.policy->max_context();
      for (const auto& [name, adapter] : models.policy->adapters())
        add(name).update({{"max_model_len", models.policy->max_context()}, {"parent", models.policy->name()}});
    }
    if (models.reward_model) add(models.reward_model_name)["task"] = "score";
    if (models.critic && !(models.policy && models.policy->name() == models.critic_name))
      add(models.critic_name)["task"] = "score";
    return list;
  }
  net::HttpServerAnswer listed_models() const { return said({{"object", "list"}, {"data", model_list()}}); }

  // Throws Refused if the request names another model. An empty `name`: the server has no such model.
  void require_model(const SortedJson& body, const std::string& name, const char* what) const {
    const std::string wanted = RequestFields(body).text("model", name);
    if (name.empty())
      throw Refused{{404,
                     fmt::format("this server has no {}. Start it with {}.", what,
                                 std::string_view(what) == "policy" ? "--policy" : "--reward-model"),
                     "model_not_found", "model"}};
    if (wanted == name) return;
    std::string known;
    for (const Json& model : model_list()) known += (known.empty() ? "" : ", ") + model.at("id").get<std::string>();
    throw Refused{{404,
                   fmt::format("the model {} is not served at this path; its {} is '{}'. This server has: {}.",
                               shown_text(wanted), what, name, known),
                   "model_not_found", "model"}};
  }
  // The policy, or one of its adapters.
  struct NamedPolicy {
    std::string name;
    std::shared_ptr<const agents::EngineAdapter> adapter;
    ServedPolicy& policy;
  };
  NamedPolicy named_policy(const SortedJson& body) const {
    if (models.policy) {
      const ServedAdapters& adapters = models.policy->adapters();
      const auto found = adapters.find(RequestFields(body).text("model", models.policy->name()));
      if (found != adapters.end()) return {found->first, found->second, *models.policy};
    }
    require_model(body, models.policy ? models.policy->name() : "", "policy");
    return {models.policy->name(), nullptr, *models.policy};
  }
  ServedRewardModel reward_model_for(const SortedJson& body) const {
    require_model(body, models.reward_model ? models.reward_model_name : "", "reward model");
    return {*models.reward_model, models.reward_model_name};
  }

  net::HttpServerAnswer chat(const SortedJson& body, const net::HttpServerRequest& request, HeldBytes& held) {
    const auto [name, adapter, policy] = named_policy(body);
    ChatCall call = value_or_throw(read_chat_call(body, limits_of(held)));
    const agents::ChatInputs inputs = read_template_inputs(RequestFields(body), request.body);
    call.answer.most_calls = read_most_calls(RequestFields(body), inputs);
    agents::EncodedPrompt prompt = policy.encode(call.request.messages, call.request.prefix, inputs);
    call.request.messages.clear();
    agents::Sampling& sampling = call.request.sampling;
    ban_words(RequestFields(body), policy.tokenizer(), sampling);
    policy.require_room(prompt, sampling.max_tokens);
    if (sampling.max_tokens == 0) sampling.max_tokens = policy.max_context();
    Generation generation{name, AnswerForm::chat, call.answer, {}, {}, {}};
    generation.requests.push_back({std::move(prompt), call.request.n, sampling, adapter});
    generation.deadline = deadline_of(request);
    hold_told(held, generation);
    if (call.answer.prompt_logprobs)
      generation.prompt_scores =
          policy.score_prompts(generation.requests, *call.answer.prompt_logprobs, request.stop, generation.deadline);
    return run_generation(policy, generation, request, metrics);
  }

  net::HttpServerAnswer complete(const SortedJson& body, const net::HttpServerRequest& request, HeldBytes& held) {
    const auto [name, adapter, policy] = named_policy(body);
    TextCall call = value_or_throw(read_text_call(body));
    ban_words(RequestFields(body), policy.tokenizer(), call.sampling);
    Generation generation{name, AnswerForm::text, call.answer, {}, {}, {}};
    for (const TextPrompt& prompt : call.prompts) {
      agents::EncodedPrompt encoded = policy.encode(prompt);
      policy.require_room(encoded, call.sampling.max_tokens);
      generation.requests.push_back({std::move(encoded), call.n, call.sampling, adapter});
    }
    generation.deadline = deadline_of(request);
    hold_told(held, generation);
    add_prompts(policy, call, generation, request.stop);
    return run_generation(policy, generation, request, metrics);
  }

  static void add_prompts(ServedPolicy& policy, const TextCall& call, Generation& generation,
                          const std::atomic<bool>& stop) {
    const bool tells_echo = call.answer.echo && call.answer.logprobs;
    if (call.answer.prompt_logprobs || tells_echo)
      generation.prompt_scores = policy.score_prompts(
          generation.requests, std::max(call.answer.prompt_logprobs.value_or(0), call.answer.top_logprobs), stop,
          generation.deadline);
    if (!call.answer.echo) return;
    for (std::size_t i = 0; i < call.prompts.size(); ++i) {
      const TextPrompt& prompt = call.prompts[i];
      const std::vector<std::int32_t>& ids = generation.requests[i].prompt.ids;
      generation.echoed.push_back(prompt.token_ids.empty() ? prompt.text
                                                           : valid_utf8(policy.tokenizer().decode(ids, false)));
    }
  }

  net::HttpServerAnswer tokenize(const SortedJson& body, const net::HttpServerRequest& request, HeldBytes& held) {
    return said(answer_tokenize(body, request.body, named_policy(body).policy, limits_of(held)));
  }
  net::HttpServerAnswer detokenize(const SortedJson& body, const net::HttpServerRequest&, HeldBytes&) {
    return said(answer_detokenize(body, named_policy(body).policy));
  }
  net::HttpServerAnswer score(const SortedJson& body, const net::HttpServerRequest& request, HeldBytes& held) {
    return said(answer_score(body, reward_model_for(body), limits_of(held), request.stop));
  }
  net::HttpServerAnswer rerank(const SortedJson& body, const net::HttpServerRequest& request, HeldBytes& held) {
    return said(answer_rerank(body, reward_model_for(body), limits_of(held), request.stop));
  }
  // The critic answers, unless the request names the reward model or there is no critic.
  net::HttpServerAnswer pool(const SortedJson& body, const net::HttpServerRequest& request, HeldBytes& held) {
    const bool names_reward_model =
        models.reward_model && RequestFields(body).text("model", "") == models.reward_model_name;
    if (!models.critic || names_reward_model)
      return said(answer_pooling(body, reward_model_for(body), limits_of(held), request.stop));
    require_model(body, models.critic_name, "critic");
    return said(answer_pooling(body, ServedCritic{*models.critic, models.critic_name}, limits_of(held), request.stop));
  }

  const ServedModels models;
  const std::int64_t started = static_cast<std::int64_t>(std::time(nullptr));
  Metrics metrics;
  PictureCache pictures;
  std::atomic<std::int64_t> answered = 0;
  std::size_t most_held = 0;
  double deadline_seconds = 0;
  net::HttpServer server;  // last: its threads use the other members
};

ModelServer::ModelServer(ServedModels models, const ModelServerOptions& options)
    : implementation_(std::make_unique<Implementation>(std::move(models), options)) {}
ModelServer::~ModelServer() = default;

int ModelServer::port() const { return implementation_->server.port(); }
std::int64_t ModelServer::answered() const { return implementation_->answered; }
void ModelServer::run(const std::atomic<bool>& stop) { implementation_->server.run(stop); }

}  // namespace agon::serve
