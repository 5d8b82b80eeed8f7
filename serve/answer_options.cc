#include "serve/answer_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "core/json_parse.h"
#include "core/rng.h"

namespace agon::serve {
namespace {

constexpr double kGreedyBelow = 1e-5;  // temperature
constexpr double kHottest = 100;

std::vector<std::string> read_stops(const RequestFields& fields) {
  std::vector<std::string> stops = fields.texts("stop");
  if (stops.size() > kMostStops)
    throw refused("stop", fmt::format("'stop' has {} texts; at most {} are possible.", stops.size(), kMostStops));
  for (const std::string& stop : stops) {
    if (stop.empty()) throw refused("stop", "'stop' holds an empty text. Leave it out.");
    if (stop.size() > kMostStopBytes)
      throw refused("stop", fmt::format("'stop' holds a text of {} bytes; at most {} are possible.", stop.size(),
                                        kMostStopBytes));
  }
  return stops;
}

bool says_nothing(const SortedJson& value) {
  return value.is_null() || value == SortedJson(false) ||
         ((value.is_array() || value.is_object() || value.is_string()) && value.empty()) ||
         (value.is_string() && value.get_ref<const std::string&>().empty());
}

std::optional<int> read_prompt_logprobs(const RequestFields& fields, bool streams) {
  if (!fields.has("prompt_logprobs")) return std::nullopt;
  const std::int64_t count = fields.whole("prompt_logprobs", 0, kMostTopLogprobs, 0);
  if (streams) throw refused("prompt_logprobs", "'prompt_logprobs' is not part of a stream. Leave \"stream\" out.");
  return static_cast<int>(count);
}

struct Unsupported {
  const char* key;
  double neutral = std::numeric_limits<double>::quiet_NaN();  // a number that changes nothing
};
constexpr Unsupported kUnsupported[] = {
    {"min_tokens", 0},   {"best_of", 1},        {"stop_token_ids"},    {"ignore_eos"},
    {"use_beam_search"}, {"allowed_token_ids"}, {"logits_processors"}, {"truncate_prompt_tokens"},
    {"suffix"},          {"chat_template"},     {"documents"},         {"audio"},
    {"functions"},       {"function_call"},     {"prompt_embeds"}};
constexpr const char* kConstraints[] = {
    "guided_json", "guided_regex", "guided_choice", "guided_grammar", "guided_options", "structured_outputs",
    "grammar",     "json_schema",  "regex",         "ebnf",           "structural_tag"};

void refuse_constraint(const std::string& key) {
  throw Refused{{400,
                 fmt::format("'{}' is not supported: this server does not constrain what the model writes. Leave it "
                             "out, and say in the prompt which form you want.",
                             key),
                 "unsupported_parameter", key}};
}

// {"token id": bias}; -100 bans the token, as in OpenAI's API.
std::map<std::int32_t, float> read_bias(const SortedJson& given) {
  constexpr double kMost = 100;
  std::map<std::int32_t, float> bias;
  if (given.is_null()) return bias;
  if (!given.is_object()) throw refused("logit_bias", fmt::format("'logit_bias' is {}, not an object.", shown(given)));
  for (const auto& [name, value] : given.items()) {
    std::int32_t id = -1;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (code != std::errc() || end != name.data() + name.size() || id < 0)
      throw refused("logit_bias", fmt::format("'logit_bias' has {}, which is not a token's id.", shown_text(name)));
    if (!value.is_number() || std::abs(value.get<double>()) > kMost)
      throw refused("logit_bias",
                    fmt::format("'logit_bias' of {} is {}, not a number from -100 to 100.", id, shown(value)));
    const auto amount = value.get<float>();
    bias[id] = amount <= -kMost ? -std::numeric_limits<float>::infinity() : amount;
  }
  return bias;
}

// Token ids, each banned by itself.
std::vector<std::vector<std::int32_t>> read_banned(const RequestFields& fields) {
  if (!fields.has("banned_token_ids")) return {};
  std::vector<std::vector<std::int32_t>> banned;
  for (const std::int32_t id : fields.token_ids("banned_token_ids")) banned.push_back({id});
  if (banned.size() > kMostBanned)
    throw refused("banned_token_ids",
                  fmt::format("'banned_token_ids' has {} ids; at most {} are possible.", banned.size(), kMostBanned));
  return banned;
}

agents::LogitChanges read_changes(const RequestFields& fields) {
  constexpr double kMostPenalty = 2, kLeastRepetition = 0.01, kMostRepetition = 10;
  agents::LogitChanges changes;
  changes.presence_penalty = fields.number("presence_penalty", -kMostPenalty, kMostPenalty, 0);
  changes.frequency_penalty = fields.number("frequency_penalty", -kMostPenalty, kMostPenalty, 0);
  changes.repetition_penalty = fields.number("repetition_penalty", kLeastRepetition, kMostRepetition, 1);
  changes.bias = read_bias(fields.at("logit_bias"));
  changes.banned = read_banned(fields);
  return changes;
}

}  // namespace

agents::Sampling read_sampling(const RequestFields& fields) {
  agents::Sampling sampling;
  sampling.temperature = fields.number("temperature", 0, kHottest, 1);
  if (sampling.temperature < kGreedyBelow) sampling.temperature = 0;
  sampling.top_p = fields.number("top_p", 0, 1, 1);
  if (sampling.top_p <= 0) throw refused("top_p", "'top_p' is 0, not a number above 0 and up to 1.");
  sampling.top_k =
      static_cast<int>(std::max<std::int64_t>(0, fields.whole("top_k", -1, std::numeric_limits<int>::max(), 0)));
  sampling.min_p = fields.number("min_p", 0, 1, 0);
  sampling.changes = read_changes(fields);
  sampling.seed = fields.has("seed")
                      ? static_cast<std::uint64_t>(fields.whole("seed", std::numeric_limits<std::int64_t>::min(),
                                                                std::numeric_limits<std::int64_t>::max(), 0))
                      : fresh_seed();
  sampling.stop = read_stops(fields);
  sampling.logprobs = true;
  return sampling;
}

void ban_words(const RequestFields& fields, const agents::Tokenizer& tokenizer, agents::Sampling& sampling) {
  for (const std::string& word : fields.texts("bad_words")) {
    const std::string bare = word.substr(std::min(word.find_first_not_of(' '), word.size()));
    if (bare.empty() || bare.size() > kMostStopBytes)
      throw refused("bad_words", fmt::format("'bad_words' holds a text of {} bytes; 1 to {} are possible.", bare.size(),
                                             kMostStopBytes));
    for (const std::string& spelled : {bare, " " + bare}) {
      std::vector<std::int32_t> run = tokenizer.encode(spelled, false, agents::TextPlace::within);
      if (!run.empty()) sampling.changes.banned.push_back(std::move(run));
    }
    if (sampling.changes.banned.size() > kMostBanned)
      throw refused("bad_words", fmt::format("'bad_words' bans more than {} runs of tokens.", kMostBanned));
  }
}

AnswerOptions read_answer_options(const RequestFields& fields) {
  AnswerOptions options;
  options.streams = fields.flag("stream", false);
  if (fields.has("stream_options")) {
    if (!options.streams) throw refused("stream_options", "'stream_options' does nothing without \"stream\": true.");
    if (!fields.at("stream_options").is_object())
      throw refused("stream_options",
                    fmt::format("'stream_options' is {}, not an object.", shown(fields.at("stream_options"))));
    options.include_usage = RequestFields(fields.at("stream_options")).flag("include_usage", false);
  }
  options.prompt_logprobs = read_prompt_logprobs(fields, options.streams);
  options.include_stop = fields.flag("include_stop_str_in_output", false);
  options.return_token_ids = fields.flag("return_token_ids", false);
  options.tokens_as_ids = fields.flag("return_tokens_as_token_ids", false);
  return options;
}

int read_samples(const RequestFields& fields) { return static_cast<int>(fields.whole("n", 1, kMostSamples, 1)); }

void refuse_unsupported(const RequestFields& fields) {
  const SortedJson& format = fields.at("response_format");
  const bool is_text = format.is_object() && format.contains("type") && format.at("type") == "text";
  if (!format.is_null() && !is_text) refuse_constraint("response_format");
  for (const char* key : kConstraints)
    if (!says_nothing(fields.at(key))) refuse_constraint(key);
  for (const auto& [key, neutral] : kUnsupported) {
    const SortedJson& value = fields.at(key);
    if (says_nothing(value) || (value.is_number() && value.get<double>() == neutral)) continue;
    throw Refused{{400,
                   fmt::format("'{}' is {}, and this server does not support it. Leave it out.", key, shown(value)),
                   "unsupported_parameter", key}};
  }
}

}  // namespace agon::serve
