#include "agents/engine/engine.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "agents/engine/cpu_backend.h"
#include "agents/engine/sampler.h"
#include "agents/engine/scheduler.h"
#include "core/error.h"

namespace agon::agents {

// The model and the scheduler, which the engine's thread owns.
struct EngineState {
  EngineState(std::unique_ptr<ModelBackend> opened, const ModelConfig& model, std::shared_ptr<const Tokenizer> words,
              const EngineOptions& options)
      : backend(std::move(opened)),
        config(model),
        tokenizer(std::move(words)),
        scheduler(*backend, config, *tokenizer, options),
        max_pages(scheduler.pages().max_pages()),
        page_bytes(scheduler.pages().page_bytes()),
        weight_bytes(static_cast<std::int64_t>(backend->weight_bytes())) {}
  const std::unique_ptr<ModelBackend> backend;
  const ModelConfig config;
  const std::shared_ptr<const Tokenizer> tokenizer;
  Scheduler scheduler;
  const std::int64_t max_pages, page_bytes;  // copies of the scheduler's, for any thread to read
  const std::int64_t weight_bytes;
  const std::vector<std::int32_t> sampleable = sampleable_ids(*tokenizer, config);
  const std::exception_ptr closed =
      std::make_exception_ptr(Error("policy: it was closed while a call was waiting for it."));
};

namespace {

constexpr int kMostSamples = 1 << 16;

void check_ids(const std::vector<std::int32_t>& ids, const ModelConfig& config) {
  for (const std::int32_t id : ids)
    if (id < 0 || id >= config.text.vocab_size)
      throw Error(
          "policy: token id {} is not in the model's vocabulary of {}. Are tokenizer.json and config.json of the "
          "same model?",
          id, config.text.vocab_size);
}

void check_prompt(const EncodedPrompt& prompt, const ModelConfig& config) {
  if (prompt.ids.empty()) throw Error("policy: the prompt is empty. Give it at least one message.");
  check_ids(prompt.ids, config);
  const std::int64_t size = std::ssize(prompt.ids), context = config.text.max_position_embeddings;
  if (size > context)
    throw Error(
        "policy: the prompt has {} tokens, the context of this model holds {}. Shorten the prompt or use smaller "
        "pictures.",
        size, context);
  if (!config.vision) {
    if (!prompt.images.empty())
      throw Error("policy: the prompt has {} pictures, and this model reads only text.", prompt.images.size());
    return;
  }
  const VisionConfig& vision = *config.vision;
  const std::int64_t merge = vision.spatial_merge_size;
  const std::int64_t row = static_cast<std::int64_t>(vision.in_channels) * vision.temporal_patch_size *
                           vision.patch_size * vision.patch_size;
  std::int64_t needed = 0;
  for (const auto& image : prompt.images) {
    if (image->grid.h % merge != 0 || image->grid.w % merge != 0 ||
        std::ssize(image->patches) != image->grid.patches() * row)
      throw Error(
          "policy: a picture of {} x {} patches with {} values does not fit a vision tower of {} values a patch "
          "and blocks of {}. Is preprocessor_config.json of this model?",
          image->grid.h, image->grid.w, image->patches.size(), row, merge);
    needed += image->grid.patches() / (merge * merge);
  }
  const auto places =
      std::count_if(prompt.ids.begin(), prompt.ids.end(), [&](std::int32_t id) { return config.shows(id); });
  if (places != needed)
    throw Error("policy: the prompt has {} image tokens for pictures that need {}.", places, needed);
}

void check_memory(std::int64_t prompt, std::int64_t own, const EngineState& state) {
  const std::int64_t pages = PagePool::pages_for(prompt), most = state.max_pages;
  const std::int64_t held = most * kernels::kKeyBlock, megabytes = most * state.page_bytes >> 20;
  if (pages > most)
    throw Error(
        "policy: the prompt has {} tokens, the memory for keys and values ({} MB) holds {}. Shorten the prompt or use "
        "smaller pictures.",
        prompt, megabytes, held);
  if (pages + PagePool::pages_for(own) > most)
    throw Error(
        "policy: {} prompt tokens and up to {} more do not fit: the memory for keys and values ({} MB) holds {}. Lower "
        "the number of tokens to generate.",
        prompt, own, megabytes, held);
}

void check(const LogitChanges& changes, const ModelConfig& config) {
  if (!(changes.repetition_penalty > 0) || !std::isfinite(changes.repetition_penalty))
    throw Error("policy: repetition_penalty {} is not a number above 0.", changes.repetition_penalty);
  for (const auto& [name, value] : {std::pair("presence_penalty", changes.presence_penalty),
                                    std::pair("frequency_penalty", changes.frequency_penalty)})
    if (!std::isfinite(value)) throw Error("policy: {} {} is not a number.", name, value);
  for (const auto& [id, bias] : changes.bias)
    if (id < 0 || id >= config.text.vocab_size || !(bias < std::numeric_limits<float>::infinity()))
      throw Error("policy: logit_bias of the token {} is {}; ids are 0 to {}, and biases numbers or -inf.", id, bias,
                  config.text.vocab_size - 1);
  for (const std::vector<std::int32_t>& run : changes.banned) {
    if (run.empty()) throw Error("policy: a banned run of tokens is empty.");
    for (const std::int32_t id : run)
      if (id < 0 || id >= config.text.vocab_size)
        throw Error("policy: the banned token {} is not in the model's vocabulary of {}.", id, config.text.vocab_size);
  }
}

// Throws Error if biases and bans leave no token that can be sampled.
void check_bans(const LogitChanges& changes, std::span<const std::int32_t> sampleable) {
  std::set<std::int32_t> banned;
  for (const auto& [id, bias] : changes.bias)
    if (std::isinf(bias)) banned.insert(id);
  for (const std::vector<std::int32_t>& run : changes.banned)
    if (run.size() == 1) banned.insert(run.front());
  if (std::all_of(sampleable.begin(), sampleable.end(), [&](std::int32_t id) { return banned.contains(id); }))
    throw Error("policy: biases and bans leave none of the {} tokens that may be written. Ban fewer.",
                sampleable.size());
}

void check(const GenerationRequest& request, const EngineState& state) {
  const Sampling& sampling = request.sampling;
  if (request.n < 1 || request.n > kMostSamples)
    throw Error("policy: {} samples requested; give 1 to {}.", request.n, kMostSamples);
  if (!std::isfinite(sampling.temperature) || sampling.temperature < 0)
    throw Error("policy: temperature {} is not a number of at least 0.", sampling.temperature);
  if (!(sampling.greedy_logprobs_at > 0) || !std::isfinite(sampling.greedy_logprobs_at))
    throw Error("policy: greedy_logprobs_at {} is not a number above 0.", sampling.greedy_logprobs_at);
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) throw Error("policy: top_p {} is not in (0, 1].", sampling.top_p);
  if (sampling.top_k < 0) throw Error("policy: top_k {} is negative; 0 means all.", sampling.top_k);
  check(sampling.changes, state.config);
  check_bans(sampling.changes, state.sampleable);
  if (!sampling.excluded.empty() && !sampling.changes.are_none())
    throw Error("policy: penalties and biases change what an excluded beginning weighs. Leave one of them out.");
  if (!(sampling.min_p >= 0 && sampling.min_p <= 1)) throw Error("policy: min_p {} is not in [0, 1].", sampling.min_p);
  if (sampling.alternatives < 0)
    throw Error("policy: alternatives {} is negative; 0 means none.", sampling.alternatives);
  if (sampling.max_tokens < 1) throw Error("policy: max_tokens {} is not positive.", sampling.max_tokens);
  if (std::any_of(sampling.stop.begin(), sampling.stop.end(), [](const auto& stop) { return stop.empty(); }))
    throw Error("policy: a stop string is empty.");
  for (const auto& [ids, logprobs, alternatives] : sampling.excluded)
    if (ids.empty() || ids.size() != logprobs.size() || (!alternatives.empty() && alternatives.size() != ids.size()))
      throw Error("policy: a beginning to exclude has {} tokens, {} log-probabilities and alternatives of {}.",
                  ids.size(), logprobs.size(), alternatives.size());
  check_prompt(request.prompt, state.config);
  const std::int64_t prompt = std::ssize(request.prompt.ids);
  check_memory(prompt, std::min<std::int64_t>(sampling.max_tokens, state.config.text.max_position_embeddings - prompt),
               state);
}

void check(const ScoringRequest& request, const EngineState& state) {
  check_prompt(request.prompt, state.config);
  check_ids(request.token_ids, state.config);
  if (!std::isfinite(request.temperature) || request.temperature < 0)
    throw Error("policy: temperature {} is not a number of at least 0.", request.temperature);
  const std::int64_t prompt = std::ssize(request.prompt.ids), own = std::ssize(request.token_ids);
  if (prompt + own > state.config.text.max_position_embeddings)
    throw Error("policy: a prompt of {} tokens and a continuation of {} exceed the context of {}.", prompt, own,
                state.config.text.max_position_embeddings);
  check_memory(prompt, own, state);
}

void apply_change(EngineCall& call, EngineState& state) {
  if (state.scheduler.busy()) throw Error("policy: weights changed while requests are under way.");
  state.scheduler.forget();
  call.change(*state.backend);
  call.succeed();
}

}  // namespace

Engine::Engine(std::unique_ptr<ModelBackend> backend, const ModelConfig& config,
               std::shared_ptr<const Tokenizer> tokenizer, const EngineOptions& options)
    : state_(std::make_unique<EngineState>(std::move(backend), config, std::move(tokenizer), options)),
      thread_([this] { work(); }) {}

Engine::Engine(EngineWeights weights, const ModelConfig& config, std::shared_ptr<const Tokenizer> tokenizer,
               const EngineOptions& options)
    : Engine(std::make_unique<CpuBackend>(std::move(weights), config, options.cache_bytes, options.keys), config,
             std::move(tokenizer), options) {}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  arrived_.notify_all();
  thread_.join();
}

int Engine::max_context() const { return state_->config.text.max_position_embeddings; }

ModelMemory Engine::memory() const {
  return {state_->weight_bytes, state_->max_pages * state_->page_bytes, state_->page_bytes};
}

void Engine::require(const GenerationRequest& request) const { check(request, *state_); }

std::vector<Completion> Engine::generate(std::vector<GenerationRequest> requests, GenerationWatch* watch) {
  auto call = std::make_shared<EngineCall>();
  call->watch = watch;
  for (const GenerationRequest& request : requests) {
    check(request, *state_);
    call->remaining += static_cast<std::size_t>(request.n);
  }
  call->generations = std::move(requests);
  call->completions.resize(call->remaining);
  submit_and_wait(call);
  return std::move(call->completions);
}

std::shared_ptr<EngineCall> Engine::call_of(std::vector<ScoringRequest> requests) const {
  auto call = std::make_shared<EngineCall>();
  for (const ScoringRequest& request : requests) check(request, *state_);
  call->remaining = requests.size();
  call->scorings = std::move(requests);
  return call;
}

std::vector<TokenScores> Engine::score(std::vector<ScoringRequest> requests, GenerationWatch* watch) {
  const auto call = call_of(std::move(requests));
  call->watch = watch;
  call->scores.resize(call->remaining);
  submit_and_wait(call);
  return std::move(call->scores);
}

std::vector<std::vector<float>> Engine::states(std::vector<ScoringRequest> requests) {
  const auto call = call_of(std::move(requests));
  call->states.resize(call->remaining);
  submit_and_wait(call);
  return std::move(call->states);
}

void Engine::change_weights(std::function<void(ModelBackend&)> change) {
  auto call = std::make_shared<EngineCall>();
  call->change = std::move(change);
  call->remaining = 1;
  submit_and_wait(call);
}

void Engine::set_weights(EngineWeights weights) {
  change_weights([&weights](ModelBackend& backend) {
    assert(dynamic_cast<CpuBackend*>(&backend));
    static_cast<CpuBackend&>(backend).set_weights(std::move(weights));
  });
}

std::shared_ptr<const EngineAdapter> Engine::load_adapter(const std::filesystem::path& folder) const {
  return state_->backend->load_adapter(folder);
}

void Engine::submit_and_wait(std::shared_ptr<EngineCall> call) {
  if (call->remaining == 0) return;
  std::future<void> done = call->done.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (closing_) throw Error("policy: it is being closed.");
    arrivals_.push_back(std::move(call));
    arrived_.notify_one();  // under the lock: afterwards the engine may be destroyed
  }
  done.get();
}

void Engine::take_over(const std::shared_ptr<EngineCall>& call) noexcept {
  try {
    if (call->change)
      apply_change(*call, *state_);
    else
      state_->scheduler.add(call);
  } catch (...) {
    call->fail(std::current_exception());
  }
}

void Engine::work() {
  Scheduler& scheduler = state_->scheduler;
  for (bool closing = false; !closing;) {
    std::vector<std::shared_ptr<EngineCall>> arrivals;  // filled by swap, which allocates nothing
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [&] { return closing_ || scheduler.busy() || !arrivals_.empty(); });
      arrivals.swap(arrivals_);
      closing = closing_;
    }
    for (const auto& call : arrivals) take_over(call);
    try {
      if (!closing) scheduler.step();
    } catch (...) {
      scheduler.fail(std::current_exception());
    }
    running_ = scheduler.running();
    waiting_ = scheduler.waiting();
  }
  scheduler.fail(state_->closed);
}

}  // namespace agon::agents
