#include "serve/generation.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "core/error.h"
#include "serve/api_error.h"
#include "serve/chat_tools.h"
#include "serve/text_stream.h"

namespace agon::serve {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* kEvents = "text/event-stream; charset=utf-8";

double seconds_between(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

// A token that the engine's thread hands over.
struct Written {
  std::size_t place = 0;
  std::int32_t id = 0;
  float logprob = 0;
  std::vector<agents::Alternative> likeliest;
};

// One choice of a streamed answer.
struct StreamedChoice {
  StreamedChoice(const std::vector<std::string>& stops, bool keeps_stop) : text(stops, keeps_stop) {}
  ToldTokens told() const { return {ids, logprobs, likeliest}; }

  TextStream text;
  std::string ready;  // to be sent
  std::size_t offset = 0;
  std::vector<std::int32_t> ids;  // of tokens that are not sent yet
  std::vector<float> logprobs;
  std::vector<std::vector<agents::Alternative>> likeliest;
};

class Runner {
 public:
  Runner(ServedPolicy& policy, const Generation& generation, const net::HttpServerRequest& request, Metrics& metrics)
      : policy_(policy),
        generation_(generation),
        request_(request),
        metrics_(metrics),
        writer_(generation.form,
                new_head(generation.form == AnswerForm::chat ? "chatcmpl-" : "cmpl-", generation.model),
                generation.options, policy.tokenizer()) {
    for (const agents::GenerationRequest& one : generation_.requests)
      if (sampling().max_tokens > 0) try {
          policy_.engine().require(one);
        } catch (const Error& error) {
          throw Refused{{400, error.what(), "invalid_value"}};
        }
  }

  net::HttpServerAnswer whole() {
    const std::vector<agents::Completion> completions = generate([](const Written&) {});
    Json choices = Json::array();
    for (std::size_t i = 0; i < completions.size(); ++i) {
      const std::size_t prompt = i / samples();
      choices.push_back(writer_.choice(i, completions[i], told_prompt(prompt), echo_of(prompt)));
    }
    const Json answer = writer_.whole(std::move(choices), told_prompt(0), count(completions));
    return {200, to_text(answer), {}};
  }

  net::HttpServerAnswer stream() {
    std::vector<std::string> holding = sampling().stop;
    const bool may_call = generation_.options.most_calls > 0;
    if (may_call) holding.emplace_back(kCallMark);
    for (std::size_t i = 0; i < choices(); ++i)
      streamed_.emplace_back(holding, generation_.options.include_stop && !may_call);
    std::vector<agents::Completion> completions;
    std::exception_ptr failure;
    {
      const std::jthread work([&] {
        try {
          completions = generate([this](Written written) { hand_over(std::move(written)); });
        } catch (...) {
          failure = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        done_ = true;
        arrived_.notify_one();
      });
      while (send_arrivals()) {
      }
    }
    if (failure) return end_broken(failure);
    send_beginnings();
    for (std::size_t i = 0; i < completions.size(); ++i) {
      const StreamedChoice& choice = streamed_[i];
      const AnswerParts parts = parts_of_answer(writer_.text_of(completions[i]), generation_.options.most_calls);
      const std::string rest = choice.ready + choice.text.end(parts.text);
      send(writer_.last_event(i, rest, choice.told(), choice.offset, completions[i]));
    }
    const TokenCounts counts = count(completions);
    if (generation_.options.include_usage) send(writer_.usage_event(counts));
    send(kEndOfStream);
    return {};
  }

 private:
  const agents::Sampling& sampling() const { return generation_.requests.front().sampling; }
  std::size_t samples() const { return static_cast<std::size_t>(generation_.requests.front().n); }
  std::size_t choices() const { return generation_.requests.size() * samples(); }
  // nullptr: the answer does not begin with the prompt.
  const std::string* echo_of(std::size_t prompt) const {
    return prompt < generation_.echoed.size() ? &generation_.echoed[prompt] : nullptr;
  }
  ToldTokens told_prompt(std::size_t prompt) const {
    const std::vector<std::int32_t>& ids = generation_.requests[prompt].prompt.ids;
    if (generation_.prompt_scores.empty()) return {ids, {}, {}};
    return {ids, generation_.prompt_scores[prompt].logprobs, generation_.prompt_scores[prompt].alternatives};
  }

  // Calls use(written) on the engine's thread for each token.
  template <typename Use>
  std::vector<agents::Completion> generate(Use use) {
    if (sampling().max_tokens == 0) return nothing();
    std::optional<Clock::time_point> first;
    agents::GenerationWatch watch{
        request_.stop,
        [&](std::size_t place, const agents::Completion& so_far) {
          if (!first) first = Clock::now();
          if (so_far.token_ids.empty()) return;
          use(Written{place, so_far.token_ids.back(), so_far.logprobs.back(),
                      so_far.alternatives.empty() ? std::vector<agents::Alternative>() : so_far.alternatives.back()});
        },
        generation_.deadline};
    const Clock::time_point start = Clock::now();
    try {
      std::vector<agents::Completion> completions = policy_.engine().generate(generation_.requests, &watch);
      measure(completions, start, first.value_or(start));
      return completions;
    } catch (const Error& error) {
      if (request_.stop) throw cancelled();
      if (Clock::now() >= generation_.deadline) throw late();
      throw;
    }
  }

  std::vector<agents::Completion> nothing() const {
    std::vector<agents::Completion> completions;
    for (const agents::GenerationRequest& one : generation_.requests)
      for (int i = 0; i < one.n; ++i)
        completions.push_back(
            {.finish_reason = agents::FinishReason::length, .prompt_tokens = static_cast<int>(one.prompt.ids.size())});
    return completions;
  }

  void measure(const std::vector<agents::Completion>& completions, Clock::time_point start, Clock::time_point first) {
    std::int64_t longest = 0;
    for (const agents::Completion& completion : completions) longest = std::max(longest, completion.tokens());
    metrics_.time_first_token(request_.waited + seconds_between(start, first));
    if (longest > 1) metrics_.time_each_token(seconds_between(first, Clock::now()) / static_cast<double>(longest - 1));
  }

  TokenCounts count(const std::vector<agents::Completion>& completions) {
    TokenCounts counts;
    for (std::size_t i = 0; i < completions.size(); ++i) {
      counts.completion += completions[i].tokens();
      if (i % samples() != 0) continue;
      counts.prompt += completions[i].prompt_tokens;
      if (generation_.prompt_scores.empty()) counts.cached += completions[i].cached_tokens;  // else scoring read all
    }
    metrics_.count_tokens(counts.prompt, counts.cached, counts.completion);
    return counts;
  }

  // Runs on the engine's thread, which sends plain text itself: waking a thread for each token is slow. The worker
  // sends all other events, which take longer, and waits for a client that does not read.
  void hand_over(Written written) {
    {
      const std::lock_guard lock(mutex_);
      StreamedChoice& choice = streamed_[written.place];
      add(choice, written);
      if (worker_sends_ || choice.ready.empty()) return;
      worker_sends_ = !has_begun_ || !choice.ids.empty() ||
                      !request_.pieces->send_if_read(piece_of(written.place, choice.ready, choice), kEvents);
      if (!worker_sends_) return forget_sent(choice);
    }
    arrived_.notify_one();  // safe: this object outlives the call of the engine
  }

  void add(StreamedChoice& choice, Written& written) const {
    if (!policy_.ends_turn(written.id)) choice.ready += choice.text.add(policy_.tokenizer().token_bytes(written.id));
    if (!generation_.options.logprobs && !generation_.options.return_token_ids) return;
    choice.ids.push_back(written.id);
    choice.logprobs.push_back(written.logprob);
    choice.likeliest.push_back(std::move(written.likeliest));
  }

  std::string piece_of(std::size_t place, const std::string& text, const StreamedChoice& choice) const {
    return writer_.piece_event(place, text, choice.told(), choice.offset);
  }

  void forget_sent(StreamedChoice& choice) const {
    choice.offset += writer_.characters_of(choice.ids);
    choice.ready.clear();
    choice.ids.clear();
    choice.logprobs.clear();
    choice.likeliest.clear();
  }

  // Waits for texts that the worker has to send, and sends them. False: there are no more, or the client has stopped
  // reading.
  bool send_arrivals() {
    std::string events;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return done_ || worker_sends_; });
      if (done_) return false;
      if (has_begun_) events = ready_events();
      worker_sends_ = !has_begun_ || !events.empty();
    }
    if (!has_begun_) send_beginnings();
    if (!events.empty()) send(events);
    return is_read_;
  }

  // REQUIRES: mutex_ is held.
  std::string ready_events() {
    std::string events;
    for (std::size_t i = 0; i < streamed_.size(); ++i) {
      StreamedChoice& choice = streamed_[i];
      if (choice.ready.empty()) continue;
      events += piece_of(i, choice.ready, choice);
      forget_sent(choice);
    }
    return events;
  }

  // Sends the events before the first token of every choice.
  void send_beginnings() {
    if (has_begun_) return;
    has_begun_ = true;
    for (std::size_t i = 0; i < choices(); ++i) {
      const ToldTokens prompt = told_prompt(i / samples());
      if (const std::string first = writer_.first_event(i, prompt); !first.empty()) send(first);
      const std::string* const echoed = echo_of(i / samples());
      if (!echoed) continue;
      send(writer_.echo_event(i, *echoed, prompt));
      streamed_[i].offset = character_count(*echoed);
    }
  }

  void send(const std::string& event) { is_read_ = is_read_ && request_.pieces->send(event, kEvents); }

  // A stream that has begun reports the error in its last event.
  net::HttpServerAnswer end_broken(const std::exception_ptr& failure) {
    ApiError error{500, "", "internal_error"};
    try {
      std::rethrow_exception(failure);
    } catch (Refused& refusal) {
      error = std::move(refusal.error);
    } catch (const std::exception& other) {
      error.message = other.what();
    }
    if (has_begun_) send("data: " + error_body(error) + "\n\n" + kEndOfStream);
    return answer_of(error);
  }

  ServedPolicy& policy_;
  const Generation& generation_;
  const net::HttpServerRequest& request_;
  Metrics& metrics_;
  const AnswerWriter writer_;
  std::deque<StreamedChoice> streamed_;
  bool is_read_ = true;
  std::mutex mutex_;  // guards the choices until the work is done, and all members below
  std::condition_variable arrived_;
  bool has_begun_ = false;
  bool worker_sends_ = false;  // only the worker may send what is ready
  bool done_ = false;
};

}  // namespace

net::HttpServerAnswer run_generation(ServedPolicy& policy, const Generation& generation,
                                     const net::HttpServerRequest& request, Metrics& metrics) {
  Runner runner(policy, generation, request, metrics);
  return generation.options.streams ? runner.stream() : runner.whole();
}

}  // namespace agon::serve
