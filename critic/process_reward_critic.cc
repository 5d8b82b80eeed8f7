#include "critic/process_reward_critic.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "agents/remote/chat_request.h"
#include "core/error.h"
#include "core/json.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "env/protocol.h"
#include "net/http_client.h"
#include "net/redaction.h"
#include "net/retry.h"
#include "net/url.h"

namespace agon::critic {
namespace {

constexpr std::size_t kAtOnce = 8;  // parallel requests
constexpr const char* kQwenMark = "<extra_0>";
constexpr const char* kQwenInstructions = "Please reason step by step, and put your final answer within \\boxed{}.";
constexpr const char* kShepherdMark = " \u043a\u0438";

struct Solution {
  Message problem{Role::user, {}, {}, {}};
  std::vector<std::string> steps;
};

void add_steps(const std::string& text, std::vector<std::string>& steps) {
  for (const env::Span& span : env::split_steps(text)) steps.emplace_back(span.of(text));
}

Solution solution_of(const StepInContext& step) {
  Solution solution;
  for (const Message& message : step.messages) {
    if (message.role == Role::system) continue;
    for (const Part& part : message.parts)
      if (message.role == Role::assistant)
        add_steps(part.text, solution.steps);
      else
        solution.problem.parts.push_back(part);
  }
  add_steps(step.before, solution.steps);
  solution.steps.push_back(step.step);
  return solution;
}

Json qwen_request(const Solution& solution, agents::PictureUrls& pictures) {
  std::string steps;
  for (const std::string& step : solution.steps) steps += step + kQwenMark;
  const auto message = [](const char* role, const std::string& content) {
    return Json{{"role", role}, {"content", content}};
  };
  return {{"messages", Json::array({message("system", kQwenInstructions),
                                    agents::message_json(solution.problem, pictures), message("assistant", steps)})},
          {"last_step_only", true}};  // read by agon's server, ignored by others
}

Json shepherd_request(const Solution& solution) {
  for (const Part& part : solution.problem.parts)
    if (!part.is_text()) throw Error("critic: Math-Shepherd's form has no pictures, and this problem has one.");
  std::string text = solution.problem.text() + " ";
  for (const std::string& step : solution.steps)
    text += (&step == solution.steps.data() ? "" : "\n") + step + kShepherdMark;
  return {{"input", text}};
}

class ProcessRewardCritic final : public StepCritic {
 public:
  explicit ProcessRewardCritic(const ProcessRewardOptions& options)
      : options_(options), key_(net::key_in_environment(options.key_env, "critic: the key of its server")) {
    if (options_.url.empty())
      throw Error(
          "critic: a process reward model needs the address of its server: --url (of agon search, --critic-url).");
    while (options_.url.ends_with('/')) options_.url.pop_back();
  }

  std::vector<Verdict> judge(std::span<const StepInContext> steps, std::int64_t /*tokens*/) override {
    std::vector<Verdict> verdicts(steps.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::exception_ptr failure;
    std::mutex mutex;
    const auto work = [&] {
      const net::HttpStop stop(failed);  // after one failure the other requests stop waiting
      for (std::size_t i = 0; !failed && (i = next++) < steps.size();) try {
          verdicts[i] = judge_one(solution_of(steps[i]));
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
          failed = true;
        }
    };
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < std::min(kAtOnce, steps.size()); ++i) threads.emplace_back(work);
    }
    if (failure) std::rethrow_exception(failure);
    return verdicts;
  }

  std::string name() const override { return options_.model.empty() ? net::public_url(options_.url) : options_.model; }

 private:
  Verdict judge_one(const Solution& solution) const {
    Json request = options_.form == RewardForm::qwen ? qwen_request(solution, pictures_) : shepherd_request(solution);
    if (!options_.model.empty()) request["model"] = options_.model;
    const Json reply = json_or_discarded(post(request.dump()));
    static const Json::json_pointer kRows("/data/0/data"), kCritiques("/data/0/critiques");
    const Json rows = reply.contains(kRows) ? reply.at(kRows) : Json();
    if (!rows.is_array()) throw Error("critic: {} answers without data[0].data. Does it serve /pooling?", address());
    Verdict verdict;
    if (rows.size() != solution.steps.size())
      verdict.fault = fmt::format("{} probabilities for {} steps", rows.size(), solution.steps.size());
    else if (rows.back().is_null())
      verdict.fault = "the critic behind the server reached no verdict";
    else
      verdict = verdict_from(right(rows.back()));
    const Json critiques = reply.contains(kCritiques) ? reply.at(kCritiques) : Json();
    if (critiques.is_array() && !critiques.empty() && critiques.back().is_string())
      verdict.critique = critiques.back().get<std::string>();
    verdict.tokens = written_tokens(reply);
    return verdict;
  }

  static std::int64_t written_tokens(const Json& reply) {
    static const Json::json_pointer kTokens("/usage/completion_tokens");
    if (!reply.contains(kTokens)) return 0;
    return whole_number<std::int64_t>(reply.at(kTokens), 0, INT32_MAX).value_or(0);
  }

  double right(const Json& row) const {
    const std::size_t place = options_.form == RewardForm::qwen ? 1 : 0;
    const bool is_pair = row.is_array() && row.size() == 2 && row[0].is_number() && row[1].is_number();
    const double probability = is_pair ? row[place].get<double>() : NAN;
    if (!(probability >= 0 && probability <= 1))
      throw Error("critic: {} answers {} where two probabilities are expected. Is it the right form of model?",
                  address(), row.dump().substr(0, 80));
    return probability;
  }

  std::string post(const std::string& body) const {
    net::HttpRequest request{options_.url + "/pooling", {"Content-Type: application/json"}, body, options_.seconds};
    if (!key_.key().empty()) request.headers.push_back("Authorization: Bearer " + key_.key());
    net::HttpReply reply = net::request_with_retries(request, options_.retries);
    if (reply.fault.empty() && reply.status == 200)
      return key_.is_rare() ? key_.redacted(reply.body) : std::move(reply.body);
    const bool wants_key = (reply.status == 401 || reply.status == 403) && key_.key().empty();
    throw Error("critic: {} {}{}", address(),
                reply.fault.empty() ? fmt::format("answers with status {}: {}", reply.status,
                                                  valid_utf8(cut_text(key_.redacted(reply.body), 200)))
                                    : "does not answer: " + key_.redacted(reply.fault),
                wants_key
                    ? ". It wants a key: name the variable that holds it: --key-env (of agon search, --critic-key-env)."
                    : "");
  }

  std::string address() const { return net::public_url(options_.url) + "/pooling"; }

  ProcessRewardOptions options_;
  const net::Redactor key_;
  mutable agents::PictureUrls pictures_{agents::PictureForm::data_url};
};

}  // namespace

RewardForm parse_reward_form(const std::string& name) {
  if (name == "qwen") return RewardForm::qwen;
  if (name == "shepherd") return RewardForm::shepherd;
  throw Error("critic: {}", unknown_name_message("form of process reward model", name, {"qwen", "shepherd"}));
}

std::unique_ptr<StepCritic> make_process_reward_critic(const ProcessRewardOptions& options) {
  return std::make_unique<ProcessRewardCritic>(options);
}

}  // namespace agon::critic
