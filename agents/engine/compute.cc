#include "agents/engine/compute.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>

#include "agents/engine/logit_changes.h"
#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::int64_t kFewest = 16;  // fewest sequences in a pass of one thread, if there are enough

struct StepScratch {
  kernels::AlignedFloats hidden, logits;
  SamplerScratch sampler;
};
// One per thread, so that generating a token allocates nothing.
StepScratch& step_scratch() {
  thread_local StepScratch scratch;
  return scratch;
}

void check_states(std::span<const float> states) {
  if (!std::all_of(states.begin(), states.end(), [](float state) { return std::isfinite(state); }))
    throw Error("policy: the model's states are not finite. Are its weights damaged?");
}

// Number of positions that the prompt needs: a video's last frame may have a later position than the text after it.
std::int32_t positions_of(const CachedPrompt& prompt) {
  std::int32_t count = prompt.next_position;
  for (const auto& position : prompt.positions) count = std::max(count, position[0] + 1);
  return count;
}

// Groups sequences by adapter, so that their low-rank products are computed together.
void gather_adapters(std::vector<EngineSequence*>& sequences) {
  if (std::none_of(sequences.begin(), sequences.end(),
                   [](const EngineSequence* one) { return one->adapter != nullptr; }))
    return;
  std::stable_sort(sequences.begin(), sequences.end(), [](const EngineSequence* a, const EngineSequence* b) {
    return id_of(a->adapter.get()) < id_of(b->adapter.get());
  });
}

}  // namespace

EngineCompute::EngineCompute(ModelBackend& backend, const ModelConfig& config, const Tokenizer& tokenizer,
                             const EngineOptions& options)
    : config_(config),
      tokenizer_(tokenizer),
      backend_(backend),
      traits_(backend.traits()),
      allowed_(sampleable_ids(tokenizer, config)),
      threads_(traits_.is_threaded ? options.threads : 1),
      images_(options.idle_bytes) {}

void EngineCompute::forget() noexcept { images_.clear(); }

std::int64_t EngineCompute::read_prompts(std::span<std::shared_ptr<CachedPrompt>> prompts,
                                         std::int64_t most_tokens) noexcept {
  std::int64_t read = 0;
  try {
    read = read_in_order(prompts, most_tokens);
  } catch (...) {
    for (const auto& prompt : prompts)
      if (!prompt->is_read()) prompt->failure = std::current_exception();
  }
  for (const auto& prompt : prompts)
    if (prompt->is_read() || prompt->has_failed()) prompt->start = {};
  return read;
}

void EngineCompute::embed_images(std::span<const Piece> pieces) {
  struct Embedded {
    Hash128 key;
    const PatchedImage* image = nullptr;  // the picture to embed
    const EngineAdapter* adapter = nullptr;
    ImageEmbeddings embeddings;
    std::exception_ptr failure;
  };
  std::map<Hash128, Embedded> needed;
  std::vector<Embedded*> unknown;
  for (const auto& [prompt, tokens] : pieces)
    for (const auto& image : prompt->images) {
      if (!prompt->embeddings.empty()) break;  // embedded with an earlier piece
      const auto [place, first] = needed.try_emplace(image_key(*image, prompt->adapter.get()));
      if (!first) continue;
      const Hash128 key = place->first;
      place->second = {key, image.get(), prompt->adapter.get(), images_.find(key), nullptr};
      if (!place->second.embeddings) unknown.push_back(&place->second);
    }
  spread(std::ssize(unknown), [&](std::int64_t i, const kernels::ParallelFor& parallel) {
    Embedded& one = *unknown[static_cast<std::size_t>(i)];
    try {
      one.embeddings =
          std::make_shared<const std::vector<float>>(backend_.encode_image(*one.image, one.adapter, parallel));
    } catch (...) {
      one.failure = std::current_exception();
    }
  });
  for (const Embedded* one : unknown)
    if (one->embeddings) images_.add(one->key, one->embeddings);
  for (const auto& [prompt, tokens] : pieces) {
    if (!prompt->embeddings.empty()) continue;
    for (const auto& image : prompt->images) {
      const Embedded& one = needed[image_key(*image, prompt->adapter.get())];
      if (one.failure) prompt->failure = one.failure;
      prompt->embeddings.push_back(one.embeddings);
    }
  }
}

std::int64_t EngineCompute::read_in_order(std::span<std::shared_ptr<CachedPrompt>> prompts, std::int64_t most_tokens) {
  for (const auto& prompt : prompts) backend_.prepare(positions_of(*prompt));
  const auto followers =
      std::stable_partition(prompts.begin(), prompts.end(), [](const auto& prompt) { return !prompt->follows(); });
  const std::int64_t read = read_together({prompts.begin(), followers}, most_tokens);
  return read + read_together({followers, prompts.end()}, most_tokens - read);
}

std::int64_t EngineCompute::read_together(std::span<const std::shared_ptr<CachedPrompt>> prompts,
                                          std::int64_t most_tokens) {
  std::vector<Piece> pieces;
  std::int64_t left = most_tokens;
  for (const auto& prompt : prompts) {
    prompt->start_failed = prompt->start.of && prompt->start.of->has_failed();
    const std::int64_t tokens = std::min(left, prompt->tokens() - prompt->tokens_read);
    if (prompt->has_failed() || prompt->follows() || tokens <= 0) continue;
    pieces.push_back({prompt, tokens});
    left -= tokens;
  }
  embed_images(pieces);
  spread(std::ssize(pieces), [&](std::int64_t i, const kernels::ParallelFor& parallel) {
    const auto& [prompt, tokens] = pieces[static_cast<std::size_t>(i)];
    if (prompt->failure) return;
    try {
      read_piece(*prompt, tokens, parallel);
    } catch (...) {
      prompt->last_hidden.clear();
      prompt->failure = std::current_exception();
    }
  });
  return most_tokens - left;
}

// The next `tokens` tokens of a prompt.
std::vector<DecoderRow> EngineCompute::prompt_rows(const CachedPrompt& prompt, std::int64_t tokens) const {
  std::vector<DecoderRow> rows;
  std::size_t image = 0;
  const std::int64_t vectors = config_.vision ? config_.vision->vectors_a_token() : 1;
  const std::int64_t width = vectors * config_.text.hidden_size;
  std::int64_t used = prompt.image_tokens_shared * width;  // floats already used of the image's embeddings
  for (std::int64_t i = prompt.start.tokens; i < prompt.tokens_read + tokens; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const float* embedding = nullptr;
    if (config_.shows(prompt.ids[at])) {
      while (used == std::ssize(*prompt.embeddings[image])) ++image, used = 0;
      embedding = prompt.embeddings[image]->data() + used;
      used += width;
    }
    if (i >= prompt.tokens_read)
      rows.push_back(
          {prompt.ids[at], embedding, prompt.positions[at], nullptr, 0, &prompt.keys, i, prompt.adapter.get()});
  }
  return rows;
}

void EngineCompute::read_piece(CachedPrompt& prompt, std::int64_t tokens, const kernels::ParallelFor& parallel) const {
  if (prompt.start.of && prompt.tokens_read == prompt.start.tokens)
    backend_.copy_rest(prompt.start.of->keys, prompt.start.tokens, prompt.keys);
  StepScratch& scratch = step_scratch();
  const std::vector<DecoderRow> rows = prompt_rows(prompt, tokens);
  const std::int64_t width = config_.text.hidden_size;
  const auto most = static_cast<std::size_t>(traits_.rows_a_pass);
  scratch.hidden.require(std::min(most, rows.size()) * static_cast<std::size_t>(width));
  std::span<const DecoderRow> rest = rows, some;
  for (; !rest.empty(); rest = rest.subspan(some.size())) {
    some = rest.first(std::min(most, rest.size()));
    backend_.forward(some, scratch.hidden.data(), parallel);
  }
  prompt.tokens_read += tokens;
  if (prompt.tokens_read < prompt.tokens()) return;
  const float* const last = scratch.hidden.data() + (std::ssize(some) - 1) * width;
  check_states({last, static_cast<std::size_t>(width)});  // the last state depends on all others, and NaN propagates
  prompt.last_hidden.assign(last, last + width);
  prompt.images.clear();
  prompt.embeddings.clear();
  prompt.adapter.reset();
}

void EngineCompute::decode(std::span<const std::unique_ptr<EngineSequence>> sequences) noexcept {
  try {
    decode_all(sequences);
  } catch (...) {  // failures of a single sequence are caught further down
    for (const auto& sequence : sequences)
      if (!sequence->finished && !sequence->failure) sequence->failure = std::current_exception();
  }
}

void EngineCompute::decode_all(std::span<const std::unique_ptr<EngineSequence>> sequences) {
  std::vector<EngineSequence*> generating, reading;
  for (const auto& sequence : sequences) {
    if (sequence->finished || sequence->failure || !sequence->prompt->is_read()) continue;
    const std::int64_t tokens =
        sequence->continuation ? sequence->most_tokens : std::ssize(sequence->completion->token_ids);
    try {
      sequence->own->require(tokens);
      backend_.prepare(sequence->prompt->next_position + static_cast<std::int32_t>(tokens));
    } catch (...) {
      sequence->failure = std::current_exception();
      continue;
    }
    (sequence->continuation ? reading : generating).push_back(sequence.get());
  }
  spread(std::ssize(reading), [&](std::int64_t i, const kernels::ParallelFor& parallel) {
    EngineSequence& sequence = *reading[static_cast<std::size_t>(i)];
    try {
      read_on(sequence, parallel);
    } catch (...) {
      sequence.failure = std::current_exception();
    }
  });
  const std::int64_t count = std::ssize(generating), threads = threads_.threads();
  if (count == 0) return;
  gather_adapters(generating);
  if (count < threads * kFewest) return decode_some(generating, threads_.parallel());
  const std::int64_t share =
      traits_.is_threaded ? std::clamp((count + 2 * threads - 1) / (2 * threads), kFewest, traits_.sequences_a_pass)
                          : traits_.sequences_a_pass;
  threads_.run(count, share, [&](std::int64_t begin, std::int64_t end) {
    decode_some(std::span(generating).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
                {});
  });
}

void EngineCompute::decode_some(std::span<EngineSequence*> sequences,
                                const kernels::ParallelFor& parallel) const noexcept {
  try {
    decode_together(sequences, parallel);
  } catch (...) {
    for (EngineSequence* sequence : sequences)
      if (!sequence->failure) sequence->failure = std::current_exception();
  }
}

void EngineCompute::decode_together(std::span<EngineSequence*> sequences, const kernels::ParallelFor& parallel) const {
  // Sequences without a token sample their first one from the prompt's last state; they are moved to the end.
  const auto fresh = std::stable_partition(sequences.begin(), sequences.end(), [](const EngineSequence* sequence) {
    return !sequence->completion->token_ids.empty();
  });
  std::vector<DecoderRow> rows;
  for (auto at = sequences.begin(); at != fresh; ++at) rows.push_back(row_of(**at, (*at)->completion->token_ids));
  const std::int64_t width = config_.text.hidden_size;
  kernels::AlignedFloats& states = step_scratch().hidden;
  states.require(sequences.size() * static_cast<std::size_t>(width));
  float* const hidden = states.data();
  if (!rows.empty()) backend_.forward(rows, hidden, parallel);
  for (std::size_t i = rows.size(); i < sequences.size(); ++i)
    std::copy_n(sequences[i]->prompt->last_hidden.data(), width, hidden + static_cast<std::int64_t>(i) * width);
  each_logits(hidden, std::ssize(sequences), parallel, [&](std::int64_t i, std::span<const float> logits) {
    EngineSequence& sequence = *sequences[static_cast<std::size_t>(i)];
    try {
      sample(sequence, logits, step_scratch().sampler);
    } catch (...) {
      sequence.failure = std::current_exception();
    }
  });
}

// Draws from the changed logits, if any, but reports the log-probability under the model's own.
SampledToken EngineCompute::drawn(EngineSequence& sequence, std::span<const float> logits,
                                  SamplerScratch& scratch) const {
  const Sampling& sampling = *sequence.sampling;
  if (sampling.changes.are_none()) return sample_token(logits, allowed_, sampling, sequence.rng, scratch);
  change_logits(sampling.changes, sequence.request->ids, sequence.completion->token_ids, logits, scratch.changed);
  SampledToken token = sample_token(scratch.changed, allowed_, sampling, sequence.rng, scratch);
  const double temperature = sampling.temperature == 0 ? sampling.greedy_logprobs_at : sampling.temperature;
  token.logprob = token_logprob(logits, allowed_, token.id, temperature, sampling.alternatives, scratch);
  return token;
}

void EngineCompute::sample(EngineSequence& sequence, std::span<const float> logits, SamplerScratch& scratch) const {
  withhold(*sequence.sampling, sequence.completion->token_ids, scratch);
  const SampledToken token = drawn(sequence, logits, scratch);
  if (sequence.sampling->alternatives > 0) sequence.completion->alternatives.push_back(scratch.alternatives);
  advance(sequence, token);
}

// The row of a sequence's last own token.
DecoderRow EngineCompute::row_of(const EngineSequence& sequence, std::span<const std::int32_t> tokens) const {
  const std::int64_t index = std::ssize(tokens) - 1;
  const std::int32_t position = sequence.prompt->next_position + static_cast<std::int32_t>(index);
  return {
      tokens.back(),      nullptr, {position, position, position}, &sequence.prompt->keys, sequence.prompt->tokens(),
      sequence.own.get(), index,   sequence.adapter.get()};
}

void EngineCompute::advance(EngineSequence& sequence, const SampledToken& token) const {
  Completion& completion = *sequence.completion;
  completion.token_ids.push_back(token.id);
  completion.logprobs.push_back(token.logprob);
  const auto& eos = config_.eos_token_ids;
  const bool ended = std::find(eos.begin(), eos.end(), token.id) != eos.end();
  const bool stopped = ended || sequence.text.append(tokenizer_.token_bytes(token.id));
  if (!stopped && std::ssize(completion.token_ids) < sequence.most_tokens) return;
  sequence.finish(stopped ? FinishReason::stop : FinishReason::length);
}

void EngineCompute::read_on(EngineSequence& sequence, const kernels::ParallelFor& parallel) const {
  const std::vector<std::int32_t>& tokens = sequence.continuation->token_ids;
  const std::int64_t width = config_.text.hidden_size;
  if (sequence.states)
    each_states(sequence, 0, parallel, [&](const float* states, std::int64_t rows) {
      check_states({states, static_cast<std::size_t>(rows * width)});
      sequence.states->insert(sequence.states->end(), states, states + rows * width);
    });
  if (sequence.scores && !tokens.empty()) {
    TokenScores& scores = *sequence.scores;
    const ScoringRequest& request = *sequence.continuation;
    scores.logprobs.resize(tokens.size());
    if (request.alternatives > 0) scores.alternatives.resize(tokens.size());
    std::size_t done = 0;
    const auto score_rows = [&](const float* states, std::int64_t rows) {
      each_logits(states, rows, parallel, [&](std::int64_t row, std::span<const float> logits) {
        const std::size_t i = done + static_cast<std::size_t>(row);
        SamplerScratch& scratch = step_scratch().sampler;
        scores.logprobs[i] =
            token_logprob(logits, allowed_, tokens[i], request.temperature, request.alternatives, scratch);
        if (request.alternatives > 0) scores.alternatives[i] = scratch.alternatives;
      });
      done += static_cast<std::size_t>(rows);
    };
    score_rows(sequence.prompt->last_hidden.data(), 1);
    each_states(sequence, 1, parallel, score_rows);
  }
  sequence.finished = true;
}

void EngineCompute::each_states(const EngineSequence& sequence, std::size_t omitted,
                                const kernels::ParallelFor& parallel,
                                const std::function<void(const float*, std::int64_t)>& use) const {
  const std::span<const std::int32_t> tokens = sequence.continuation->token_ids;
  StepScratch& scratch = step_scratch();
  const auto most = static_cast<std::size_t>(traits_.rows_a_pass);
  for (std::size_t first = 0; first + omitted < tokens.size(); first += most) {
    std::vector<DecoderRow> rows;
    for (std::size_t i = first; i + omitted < tokens.size() && rows.size() < most; ++i)
      rows.push_back(row_of(sequence, tokens.first(i + 1)));
    scratch.hidden.require(rows.size() * static_cast<std::size_t>(config_.text.hidden_size));
    backend_.forward(rows, scratch.hidden.data(), parallel);
    use(scratch.hidden.data(), std::ssize(rows));
  }
}

// Calls use(row, its logits) for every row of hidden, on several threads. Computes traits_.logits_a_pass at a time.
void EngineCompute::each_logits(const float* hidden, std::int64_t rows, const kernels::ParallelFor& parallel,
                                const std::function<void(std::int64_t, std::span<const float>)>& use) const {
  const std::int64_t size = config_.text.vocab_size,
                     some = std::clamp<std::int64_t>(traits_.logits_a_pass / size, 1, traits_.sequences_a_pass);
  kernels::AlignedFloats& logits = step_scratch().logits;
  logits.require(static_cast<std::size_t>(std::min(some, rows) * size));
  for (std::int64_t first = 0; first < rows; first += some) {
    const std::int64_t count = std::min(some, rows - first);
    backend_.logits(hidden + first * config_.text.hidden_size, count, logits.data(), parallel);
    kernels::run_parallel(parallel, count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        use(first + i, {logits.data() + i * size, static_cast<std::size_t>(size)});
    });
  }
}

void EngineCompute::spread(std::int64_t count,
                           const std::function<void(std::int64_t, const kernels::ParallelFor&)>& body) {
  if (count >= threads_.threads()) {
    threads_.run(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) body(i, {});
    });
  } else {
    const kernels::ParallelFor parallel = threads_.parallel();
    for (std::int64_t i = 0; i < count; ++i) body(i, parallel);
  }
}

}  // namespace agon::agents
