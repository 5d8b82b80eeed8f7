#include "agents/remote/probe.h"

#include <algorithm>
#include <utility>

#include "agents/remote/chat_request.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::agents {
namespace {

constexpr int kTokens = 12;  // length of the answers

// Whether a listed model generates text. Some servers list other models too and mark them.
bool writes(const Json& model) {
  return model.is_object() && model.value("id", Json()).is_string() && model.value("task", Json()) != "score";
}

// Reads the server's /models: its only model that generates text, or the one that the endpoint names.
void read_models(const Json& models, const Endpoint& endpoint, ServerTraits& traits) {
  static const Json::json_pointer kData("/data");
  if (!models.is_object() || !models.contains(kData) || !models.at(kData).is_array()) return;
  std::vector<std::string> names;
  for (const Json& model : models.at(kData))
    if (writes(model)) names.push_back(model["id"]);
  for (const Json& model : models.at(kData)) {
    if (!writes(model) || (!endpoint.model.empty() && model["id"] != endpoint.model)) continue;
    if (endpoint.model.empty() && names.size() > 1) {
      std::string list;
      for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 8); ++i) list += (i ? ", " : "") + names[i];
      throw Error("policy: {} has {} models: {}{}. Name one behind a '#': {}#{}.", endpoint.url, names.size(), list,
                  names.size() > 8 ? ", ..." : "", endpoint.url, names.front());
    }
    traits.model = model["id"];
    for (const char* key : {"/max_model_len", "/context_length", "/meta/n_ctx", "/max_context_length"}) {
      const Json::json_pointer place(key);
      if (model.contains(place) && traits.context == 0)
        traits.context = whole_number(model.at(place), 0, 1 << 30).value_or(0);
    }
    return;
  }
}

class Prober {
 public:
  Prober(ChatClient& client, const PromptText* text) : client_(client), text_(text), pictures_(PictureForm::data_url) {}

  Probed run() {
    read_models(client_.get("/models"), client_.endpoint(), traits());
    ask_plainly();
    try_many_and_logprobs();
    try_sampling();
    try_stop();
    try_continuing();
    try_scoring();
    try_picture();
    if (client_.endpoint().context > 0) traits().context = client_.endpoint().context;
    return std::move(probed_);
  }

 private:
  ServerTraits& traits() { return probed_.traits; }
  RequestParts parts() { return {client_.endpoint(), traits(), pictures_, text_}; }
  void note(std::string text) { probed_.notes.push_back(std::move(text)); }

  Json body(const std::vector<Message>& messages, const std::string& prefix, double temperature, std::uint64_t seed) {
    ChatRequest request{.messages = messages, .prefix = prefix};
    request.sampling.max_tokens = kTokens;
    request.sampling.temperature = temperature;
    request.sampling.seed = seed << 33;
    return chat_body(request, parts());
  }
  Json plain() { return body(question_, "", 0, 0); }

  void ask_plainly() {
    ChatOutcome outcome = client_.ask(plain());
    if (!outcome.fault.empty() && outcome.fault.find("max_completion_tokens") != std::string::npos) {
      traits().limit_is_completion = true;
      outcome = client_.ask(plain());
    }
    if (!outcome.fault.empty())
      throw Error("policy: {}{}{}", outcome.fault, outcome.fault.ends_with('.') ? "" : ".", advice(outcome));
    if (traits().model.empty() && client_.endpoint().model.empty()) try_name(outcome.reply.model);
    greedy_ = outcome.reply.answers.front().text;
    traits().counts_tokens = outcome.reply.usage && outcome.reply.usage->completion_tokens > 0;
    greedy_tokens_ = outcome.reply.usage ? outcome.reply.usage->completion_tokens : 0;
    if (!traits().counts_tokens) note("The server does not count tokens (usage).");
  }

  // A server that lists no model may report a name in its answers that it does not accept in requests.
  void try_name(const std::string& name) {
    traits().model = name;
    if (!name.empty() && !answers(client_.ask(plain()))) traits().model.clear();
  }

  std::string advice(const ChatOutcome& outcome) const {
    const Endpoint& endpoint = client_.endpoint();
    if (outcome.status == 0) return " Is the server running, and is its address right?";
    if (outcome.status == 401 || outcome.status == 403)
      return endpoint.key_env.empty() ? " It wants a key: write a YAML file with url, model and key_env, the name of "
                                        "the variable that holds it."
                                      : fmt::format(" Is the key in {} right?", endpoint.key_env);
    if (outcome.status == 404 || outcome.status == 405)
      return fmt::format(" Should the address end in /v1? The request went to {}/chat/completions.", endpoint.url);
    return "";
  }

  bool answers(const ChatOutcome& outcome) const { return outcome.fault.empty(); }

  void try_many_and_logprobs() {
    Json many = plain();
    many["n"] = 2;
    const ChatOutcome two = client_.ask(many);
    traits().many = answers(two) && two.reply.answers.size() == 2 && !two.reply.answers[1].finish_reason.empty();
    Json logprobs = plain();
    logprobs["logprobs"] = true;
    logprobs["top_logprobs"] = 2;
    const ChatOutcome told = client_.ask(logprobs);
    if (!answers(told)) return;
    const ChatAnswer& answer = told.reply.answers.front();
    traits().logprobs = !answer.logprobs.empty();
    traits().token_ids = traits().logprobs && answer.token_ids.size() == answer.logprobs.size();
  }

  // Compares answers for one seed used twice and two others, at a temperature at which 12 tokens rarely coincide.
  void try_sampling() {
    traits().seeds = true;
    std::vector<std::string> texts;
    for (const std::uint64_t seed : {11, 11, 12, 13}) {
      const ChatOutcome outcome = client_.ask(body(story_, "", 1.5, seed));
      if (!answers(outcome)) {
        traits().seeds = false;
        return note("Requests with a seed are refused: " + outcome.fault);
      }
      texts.push_back(outcome.reply.answers.front().text);
    }
    const bool all_equal = texts[1] == texts[2] && texts[2] == texts[3];
    traits().samples = texts[0] != texts[1] || !all_equal;
    traits().seeds = traits().samples && texts[0] == texts[1] && !all_equal;
    if (!traits().samples)
      note(
          "Temperature does nothing here: every answer is the same. Samples are useless until the server is configured "
          "to sample (extra_body in the policy's YAML file).");
  }

  // Uses two characters in the middle of the known answer as a stop string.
  void try_stop() {
    const std::vector<std::string> letters = characters(greedy_);
    if (letters.size() < 4) return note("The answer was too short to find out how stop strings end one.");
    std::size_t at = letters.size() / 2;
    std::string before;
    for (std::size_t i = 0; i < at; ++i) before += letters[i];
    const std::string stop = letters[at] + letters[at + 1];
    if (const std::size_t first = greedy_.find(stop); first < before.size()) before = greedy_.substr(0, first);
    Json request = plain();
    request["stop"] = {stop};
    const ChatOutcome outcome = client_.ask(request);
    if (!answers(outcome)) return note("Stop strings are refused: " + outcome.fault);
    const ChatAnswer& answer = outcome.reply.answers.front();
    traits().keeps_stop = answer.text == before + stop;
    traits().names_stop = answer.text == before && answer.stop == stop;
  }

  // Sends an assistant's turn with the first half of the known answer. The other half should follow.
  void try_continuing() {
    // The half ends at the end of a word, since splitting a word would change its tokens.
    constexpr const char* kBlank = " \t\r\n";
    const std::size_t blank = greedy_.find_last_of(kBlank, greedy_.size() / 2);
    const std::string half(greedy_, 0, blank == std::string::npos ? 0 : greedy_.find_last_not_of(kBlank, blank) + 1);
    if (half.empty()) {
      const Continuing said = client_.endpoint().continuing;
      traits().continuing = said == Continuing::probe ? Continuing::none : said;
      traits().keeps_blank_end = said == Continuing::completions;
      return note("The answer was too short to find out whether a turn can be continued.");
    }
    const std::string rest = greedy_.substr(half.size());
    const Continuing wanted = client_.endpoint().continuing;
    std::vector<Continuing> ways{wanted};
    if (wanted == Continuing::none) return;
    if (wanted == Continuing::probe)
      ways = {Continuing::message, Continuing::prefill, Continuing::chat_template, Continuing::completions};
    if (!text_) std::erase_if(ways, needs_template);
    for (const Continuing way : ways)
      if (continues_by(way, half, rest)) return;
    traits().continuing = wanted == Continuing::probe ? Continuing::none : wanted;
    traits().repeats_turn = false;
    traits().keeps_blank_end = traits().continuing == Continuing::completions;  // there a turn is plain text
    if (wanted != Continuing::probe)
      note("The policy's file says how a turn is continued ('continue'), but the server did not continue one so.");
  }

  bool continues_by(Continuing way, const std::string& half, const std::string& rest) {
    traits().continuing = way;
    const ChatOutcome outcome = client_.ask(body(question_, half, 0, 0));
    if (!answers(outcome)) return false;
    const std::string& text = outcome.reply.answers.front().text;
    const bool is_text = way == Continuing::completions;
    traits().repeats_turn = !is_text && text.starts_with(half) && is_continued(outcome.reply);
    if (!continues(traits().repeats_turn ? text.substr(half.size()) : text, rest)) return false;
    traits().keeps_blank_end = is_text;
    if (!is_text) try_blank_end(half, outcome);
    return true;
  }

  // Whether the answer is the turn continued, not the whole answer again: it is longer, or took fewer tokens.
  bool is_continued(const ChatReply& reply) const {
    const bool is_longer = reply.answers.front().text.size() > greedy_.size();
    return is_longer || (reply.usage && reply.usage->completion_tokens < greedy_tokens_);
  }

  // Compares only the first characters: a server may tokenise the half differently, and then diverge.
  static bool continues(std::string_view text, std::string_view rest) {
    const std::string_view wanted = rest.substr(0, std::min<std::size_t>(rest.size(), 6));
    return text.starts_with(wanted) || trim(text).starts_with(trim(wanted));
  }

  // Checks whether white space at the end of a turn reaches the model: then it takes tokens.
  void try_blank_end(const std::string& half, const ChatOutcome& without) {
    const ChatOutcome with = client_.ask(body(question_, half + "\n\n", 0, 0));
    traits().keeps_blank_end = answers(with) && with.reply.usage && without.reply.usage &&
                               with.reply.usage->prompt_tokens > without.reply.usage->prompt_tokens;
  }

  void try_scoring() {
    const std::string turn = "One, two, three";
    const ChatRequest request = scoring_request(question_, turn);
    const ChatOutcome outcome = client_.ask(chat_body(request, parts()));
    traits().scores = answers(outcome) && ending_logprobs(outcome.reply.prompt, turn).has_value();
    if (traits().scores || !text_) return;
    traits().echoes = true;
    const Json echo = chat_body(request, parts());
    const ChatOutcome echoed = client_.ask(echo);
    traits().echoes = traits().scores =
        answers(echoed) &&
        ending_logprobs(echoed_prompt(echoed.reply.answers.front(), echo.value("prompt", "")), turn).has_value();
  }

  void try_picture() {
    std::vector<std::uint8_t> rgb;
    for (int i = 0; i < 56 * 56; ++i) rgb.insert(rgb.end(), {200, 30, 30});
    const std::vector<Message> seen = {
        {Role::user, {Part::of(Image(56, 56, std::move(rgb))), Part::of("Which colour is this?")}, {}, {}}};
    const ChatOutcome outcome = client_.ask(body(seen, "", 0, 0));
    traits().images = answers(outcome);
  }

  ChatClient& client_;
  const PromptText* const text_;
  PictureUrls pictures_;
  Probed probed_;
  const std::vector<Message> question_ = {
      Message::of(Role::user, "Count from one to twenty in words, with a comma behind each.")};
  const std::vector<Message> story_ = {Message::of(Role::user, "Write the first words of a story about anything.")};
  std::string greedy_;
  int greedy_tokens_ = 0;
};

}  // namespace

Probed probe(ChatClient& client, const PromptText* text) { return Prober(client, text).run(); }

}  // namespace agon::agents
