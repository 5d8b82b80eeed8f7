#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "agents/engine/local_policy.h"
#include "cli/commands/commands.h"
#include "cli/flags/cache_flag.h"
#include "cli/flags/device_flag.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/memory_flags.h"
#include "cli/flags/usage.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/paid.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/json.h"
#include "core/pictures/video_file.h"
#include "core/text.h"

namespace agon::cli {
namespace {

struct CompleteOptions {
  std::string policy, cache, device, prompt, system;
  MemoryFlags memory;
  std::vector<std::string> images, videos;
  FrameSampling frames{.spread = FrameSampling::Spread::ends};
  int samples = 1, threads = 0;
  agents::Sampling sampling;
  bool prompt_given = false, logprobs = false, json = false;
};

std::string read_standard_input() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (trim(text).empty())
    throw WrongUsage("complete: the prompt is missing. Give --prompt <text>, or the prompt on standard input.");
  return text;
}

std::vector<Message> messages_of(const CompleteOptions& options) {
  std::vector<Message> messages;
  if (!options.system.empty()) messages.push_back(Message::of(Role::system, options.system));
  Message question{Role::user, {}, {}, {}};
  for (const std::string& path : options.videos)
    question.parts.push_back(Part::of(load_video(picture_path(path), options.frames)));
  for (const std::string& path : options.images)
    question.parts.push_back(Part::of(load_image(picture_path(path), {.most_elongated = kMostElongated})));
  question.parts.push_back(Part::of(options.prompt_given ? options.prompt : read_standard_input()));
  messages.push_back(std::move(question));
  return messages;
}

Json to_json(const agents::Completion& completion) {
  return {{"text", completion.text},
          {"token_ids", completion.token_ids},
          {"logprobs", completion.logprobs},
          {"finish_reason", agents::to_string(completion.finish_reason)},
          {"prompt_tokens", completion.prompt_tokens}};
}

void print_as_json(const std::vector<agents::Completion>& completions, const agents::PolicySource& policy) {
  Json list = Json::array();
  for (const agents::Completion& completion : completions) list.push_back(to_json(completion));
  print_measured(list.size() == 1 ? list[0] : list, {{"policy", policy_record(policy)}});
}

// One line per token: its id if the policy reports it, else its text.
void print_logprobs(const agents::Completion& completion) {
  std::size_t begin = 0;
  for (std::size_t t = 0; t < completion.logprobs.size(); ++t) {
    const std::size_t end = completion.token_ends.at(t);
    const std::string token = t < completion.token_ids.size()
                                  ? fmt::format("{}", completion.token_ids[t])
                                  : printable_line(completion.text.substr(begin, end - begin));
    fmt::print("{:>8} {:>10.5f}\n", token, completion.logprobs[t]);
    begin = end;
  }
}

void print_as_text(const std::vector<agents::Completion>& completions, bool logprobs) {
  for (std::size_t i = 0; i < completions.size(); ++i) {
    const agents::Completion& completion = completions[i];
    if (completions.size() > 1)
      fmt::print("{}--- sample {}: {} tokens, ended by {}\n", i > 0 ? "\n" : "", i, completion.tokens(),
                 agents::to_string(completion.finish_reason));
    print_text(completion.text + "\n");
    if (logprobs) print_logprobs(completion);
  }
}

void complete(const CompleteOptions& options, const CLI::App& command) {
  agents::CompletionRequest request{messages_of(options), {}, options.samples, options.sampling};
  request.sampling.logprobs = options.logprobs || options.json;
  agents::PolicySource source = find_policy(options.policy);
  use_cache(source, options.cache);
  use_memory(source, options.memory);
  use_device(source, options.device);
  require_threads_used(command, source);
  require_server("complete", options.cache, {&source, 1});
  const auto policy = agents::open_policy(source, {.threads = options.threads});
  if (options.logprobs && !policy->capabilities().logprobs)
    throw Error("complete: {} does not tell log-probabilities. Leave --logprobs out.", policy->capabilities().name);
  const std::vector<agents::Completion> completions = policy->complete({&request, 1});
  agents::require_complete(completions);
  if (completions.front().finish_reason == agents::FinishReason::context)
    throw Error("complete: the prompt has {} tokens, the context of {} holds {}. Shorten it or use smaller pictures.",
                completions.front().prompt_tokens, policy->capabilities().name, policy->capabilities().max_context);
  if (options.json)
    print_as_json(completions, source);
  else
    print_as_text(completions, options.logprobs);
  note_paid("complete", {policy.get()});
}

}  // namespace

void add_complete(CLI::App& app) {
  CLI::App* command = app.add_subcommand("complete", "Complete one prompt, which may have pictures and videos");
  auto options = std::make_shared<CompleteOptions>();
  agents::Sampling& sampling = options->sampling;
  command
      ->add_option("--policy", options->policy, std::string("Model folder or server (default: ") + kDefaultModel + ")")
      ->type_name("<path>");
  add_cache_option(*command, options->cache);
  add_memory_options(*command, options->memory);
  add_device_option(*command, options->device);
  CLI::Option* prompt =
      command->add_option("PROMPT,--prompt", options->prompt, "Question to answer (default: standard input)")
          ->type_name("<text>")
          ->check(some_text());
  command->add_option("--image", options->images, "Picture before the text (PNG, JPEG or WebP)")
      ->type_name("<path>")
      ->allow_extra_args(false);
  command
      ->add_option("--video", options->videos,
                   "Video before the pictures and the text (MP4, QuickTime, WebM, Matroska, AVI)")
      ->type_name("<path>")
      ->allow_extra_args(false);
  CLI::Option* const rate =
      command->add_option("--video-fps", options->frames.fps, "Frames of a video shown per second, at least 4 in all")
          ->type_name("<number>")
          ->check(number_in(0.001, 1000))
          ->capture_default_str();
  command->add_option("--video-frames", options->frames.count, "Number of frames of a video shown")
      ->type_name("<n>")
      ->check(whole_number_in(1, 4096))
      ->excludes(rate);
  command->add_option("--system", options->system, "System message")->type_name("<text>")->check(some_text());
  command->add_option("--samples", options->samples, "Number of completions")
      ->type_name("<n>")
      ->check(whole_number_in(1, 65'536))
      ->capture_default_str();
  command->add_option("--temperature", sampling.temperature, "Temperature; 0 is greedy")
      ->type_name("<number>")
      ->check(number_in(0, 100))
      ->capture_default_str();
  command->add_option("--top-p", sampling.top_p, "Probability mass of the tokens to sample from")
      ->type_name("<number>")
      ->check(number_in(kLeastTopP, 1))
      ->capture_default_str();
  command->add_option("--top-k", sampling.top_k, "Number of most likely tokens to sample from; 0: all")
      ->type_name("<n>")
      ->check(whole_number_in(0, 1'000'000'000))
      ->capture_default_str();
  command->add_option("--seed", sampling.seed, "Seed; the same seed gives the same completions")
      ->type_name("<n>")
      ->check(whole_number_in(0, ~std::uint64_t{0}))
      ->capture_default_str();
  command->add_option("--max-tokens", sampling.max_tokens, "Maximum number of tokens per completion")
      ->type_name("<n>")
      ->check(whole_number_in(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--stop", sampling.stop, "Text that ends a completion at its first occurrence")
      ->type_name("<text>")
      ->check(some_text())
      ->allow_extra_args(false);
  command->add_option("--threads", options->threads, "Compute threads; 0: one per core")
      ->type_name("<n>")
      ->check(whole_number_in(0, 1024))
      ->capture_default_str();
  command->add_flag("--logprobs", options->logprobs, "Also print the id and log-probability of each token");
  command->add_flag("--json", options->json, "Print one JSON object, or an array of several samples");
  command->callback([options, prompt, command] {
    const bool samples = options->sampling.temperature > 0;
    for (const char* flag : {"--top-p", "--top-k", "--seed"})
      require_used(*command, {{flag, samples, "at temperature 0", "give a --temperature above 0"}});
    for (const char* flag : {"--video-fps", "--video-frames"})
      require_used(*command, {{flag, !options->videos.empty(), "without a video", "give one with --video"}});
    require_used(*command, {{"--logprobs", !options->json, "with --json, which has them always"}});
    require_samples_differ("complete", options->samples, options->sampling.temperature);
    options->prompt_given = prompt->count() > 0;
    complete(*options, *command);
  });
}

}  // namespace agon::cli
