#include "critic/search/journal.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace agon::critic {
namespace {

// Keys whose values differ between equal searches: times, tokens written ahead, and numbers whose last digits vary.
bool never_shared(const std::string& key) {
  return key == "seconds" || key == "tool_seconds" || key == "wall_seconds" || key == "speculative_tokens" ||
         key == "logprobs" || key == "alternatives";
}

bool same(const Json& a, const Json& b);

bool same_member(const std::string& key, const Json& a, const Json& b) {
  constexpr double kProbabilityTolerance = 1e-3;
  if (key == "probability" && a.is_number() && b.is_number())
    return std::abs(a.get<double>() - b.get<double>()) <= kProbabilityTolerance;
  return same(a, b);
}

bool same(const Json& a, const Json& b) {
  if (a.is_array() && b.is_array()) return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
  if (!a.is_object() || !b.is_object()) return a == b;
  for (const auto& [key, value] : b.items())
    if (!never_shared(key) && !a.contains(key)) return false;
  for (const auto& [key, value] : a.items())
    if (!never_shared(key) && !(b.contains(key) && same_member(key, value, b.at(key)))) return false;
  return true;
}

// Whether the entry reports the end of wall time, which another search reaches at another place.
bool out_of_time(const record::JournalEntry& entry) { return entry.body.value("exhausted", Json()) == "wall"; }

}  // namespace

Journal::Journal(std::uint64_t task_index, std::vector<record::JournalEntry> past, Record record,
                 const std::atomic<bool>* stop)
    : task_index_(task_index), past_(std::move(past)), record_(std::move(record)), stop_(stop) {}

Json Journal::next(const std::string& kind, const std::function<Json(std::vector<Image>&)>& live) {
  std::vector<Image> images;
  if (!in_past()) {
    if (stop_ && *stop_) throw SearchStopped{};
    Json body = asked(live, images);
    return record_new(kind, std::move(body), std::move(images));
  }
  const record::JournalEntry& past = take_past(kind);
  if (comparing_ && !divergence_ && !out_of_time(past)) hold_against(past, asked(live, images));
  return past.body;
}

Json Journal::asked(const std::function<Json(std::vector<Image>&)>& live, std::vector<Image>& images) {
  asking_ = true;
  Json body = live(images);
  asking_ = false;
  return body;
}

Json Journal::next_known(const std::string& kind, Json body, std::vector<Image> images) {
  if (!in_past()) return record_new(kind, std::move(body), std::move(images));
  const record::JournalEntry& past = take_past(kind);
  if (!divergence_) hold_against(past, std::move(body));
  return past.body;
}

const record::JournalEntry& Journal::take_past(const std::string& kind) {
  const record::JournalEntry& past = past_[place_++];
  if (past.kind != kind)
    throw Error(
        "search: the journal of task {} has '{}' as entry {}, but the search now does '{}' there. It was written with "
        "other settings or by another version: start again in another folder.",
        task_index_, past.kind, past.number, kind);
  return past;
}

void Journal::hold_against(const record::JournalEntry& past, Json now) {
  if (!same(now, past.body)) divergence_ = {past.number, past.kind, past.body, std::move(now)};
}

Json Journal::record_new(const std::string& kind, Json body, std::vector<Image> images) {
  const std::int64_t number = std::ssize(past_) + new_entries_++;
  if (record_) record_({task_index_, number, kind, body, std::move(images)});
  return body;
}

void Journal::reading(const std::filesystem::path& run, const std::function<void()>& work) const {
  const auto damaged = [&](const std::exception& exception) {
    if (place_ == 0 || new_entries_ > 0 || asking_) throw;
    const record::JournalEntry& entry = past_[place_ - 1];
    throw Error("{}: entry {} ({}) of the journal of task {} is damaged: {}. Restore the run from a copy.",
                run.string(), entry.number, entry.kind, task_index_, exception.what());
  };
  try {
    work();
  } catch (const Json::exception& exception) {  // a missing key, or a value of another type
    damaged(exception);
  } catch (const std::logic_error& exception) {  // an unknown node
    damaged(exception);
  }
}

double Journal::past_seconds() const { return past_.empty() ? 0 : past_.back().body.value("seconds", 0.0); }

Json text_json(const std::string& text) {
  const bool ascii =
      std::all_of(text.begin(), text.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  if (ascii || valid_utf8(text) == text) return text;
  std::string hex;
  for (const char byte : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return {{"hex", hex}};
}

std::string text_of(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  const auto hex = json.at("hex").get<std::string>();
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return text;
}

Json verdict_json(const Verdict& verdict) {
  Json json{{"judgement", to_string(verdict.judgement)}, {"probability", nullptr}};
  if (verdict.probability) json["probability"] = *verdict.probability;
  json["tokens"] = verdict.tokens;
  if (!verdict.critique.empty()) json["critique"] = text_json(verdict.critique);
  if (!verdict.fault.empty()) json["fault"] = text_json(verdict.fault);
  return json;
}

Verdict verdict_in(const Json& json) {
  Verdict verdict;
  for (const Judgement judgement : {Judgement::correct, Judgement::incorrect, Judgement::invalid, Judgement::unknown})
    if (json.at("judgement") == to_string(judgement)) verdict.judgement = judgement;
  if (json.at("probability").is_number()) verdict.probability = json.at("probability").get<double>();
  constexpr std::int64_t kMostTokens = 1'000'000'000'000;
  const auto tokens = whole_number<std::int64_t>(json.at("tokens"), 0, kMostTokens);
  if (!tokens) throw std::out_of_range(fmt::format("'tokens' is {}", json.at("tokens").dump()));
  verdict.tokens = *tokens;
  if (json.contains("critique")) verdict.critique = text_of(json.at("critique"));
  if (json.contains("fault")) verdict.fault = text_of(json.at("fault"));
  return verdict;
}

}  // namespace agon::critic
