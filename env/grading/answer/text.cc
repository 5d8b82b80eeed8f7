#include "env/grading/answer/text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/text.h"
#include "env/protocol.h"
#include "core/json_text.h"

namespace agon::env {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_blank(char c) { return c == ' ' || c == '\n'; }
bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// --- Words ---

bool is_article(std::string_view word) { return word == "a" || word == "an" || word == "the"; }

constexpr std::size_t kLongestCharged = 4;  // bytes of "Cl-", "AB-": in longer words a hyphen at the end says nothing

// Collects the words of a plain text in lower case.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  std::vector<std::string> read() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_blank(c))
        end_word();
      else if (is_punctuation(c))
        punctuation(c);
      else
        word_ += c;
      ++at_;
    }
    end_word();
    return std::move(words_);
  }

 private:
  char before() const { return at_ > 0 ? text_[at_ - 1] : ' '; }
  char after(std::size_t ahead = 1) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : ' '; }

  void end_word() {
    if (!word_.empty() && !is_article(word_)) words_.push_back(word_);
    word_.clear();
  }
  void add_sign(char c) {
    end_word();
    words_.emplace_back(1, c);
  }
  bool parts_thousands() const {
    return is_digit(after(1)) && is_digit(after(2)) && is_digit(after(3)) && !is_digit(after(4));
  }

  // Does a term of a formula begin there: a digit, a bracket, a sign such as √, a letter that stands alone?
  bool begins_term(std::size_t at) const {
    const std::string_view rest = text_.substr(std::min(at, text_.size()));
    if (rest.empty()) return false;
    if (is_digit(rest[0]) || std::string_view("([{|").find(rest[0]) != std::string_view::npos) return true;
    if (rest[0] == '.' || rest[0] == '$') return rest.size() > 1 && (is_digit(rest[1]) || rest[1] == '.');
    if (!is_word_byte(rest[0])) return false;
    const std::size_t bytes = first_character(rest).bytes;
    const bool sign = rest.starts_with("\u221a") || rest.starts_with("\u221e");
    return sign || bytes == rest.size() || !is_word_byte(rest[bytes]) || is_digit(rest[bytes]);
  }
  // Does one end before: a bracket, a word of one character or with a digit?
  bool ended_term(char last) const {
    if (std::string_view(")]}|").find(last) != std::string_view::npos) return true;
    const std::string_view word =
        word_.empty() && !words_.empty() ? std::string_view(words_.back()) : std::string_view(word_);
    if (word.empty()) return false;
    return first_character(word).bytes == word.size() || word.find_first_of("0123456789") != word.npos;
  }
  bool is_minus() const {
    if (is_blank(before()) && is_blank(after())) return at_ > 1 && ended_term(text_[at_ - 2]) && begins_term(at_ + 2);
    if (!begins_term(at_ + 1)) return false;
    return is_blank(before()) ? !is_digit(after()) : !is_word_byte(before()) || ended_term(before());
  }

  void punctuation(char c) {
    const bool digits = is_digit(before()) && is_digit(after());
    if (c == '!' && after() == '=') {
      end_word();
      words_.emplace_back("\u2260");
      ++at_;
      return;
    }
    if (c == '<' || c == '>' || c == '=') return add_sign(c);
    if (digits && std::string_view(".:/-^*").find(c) != std::string_view::npos) return word_.push_back(c);
    if (digits && c == ',' && !parts_thousands()) return word_.push_back(c);
    if (c == '.' && is_digit(after()) && !is_word_byte(before())) {
      word_ += "0.";
      return;
    }
    const bool value =
        is_digit(after()) || (after() == '.' && is_digit(after(2))) || (after() == '$' && is_digit(after(2)));
    if (c == '-' && value && !is_word_byte(before())) return word_.push_back(c);
    const bool ends = !is_word_byte(after()) && after() != '(';
    const bool ends_word = ends && !word_.empty() && is_word_byte(before());
    if (c == '+' && (ends_word || (ends && before() == c && !word_.empty()))) return word_.push_back(c);
    if (c == '#' && (is_letter(before()) || before() == c) && ends && !word_.empty()) return word_.push_back(c);
    if (c == '-' && ends_word && after() != c && word_.size() <= kLongestCharged) return word_.push_back(c);
    if (c == '+' && !(is_blank(before()) && is_word_byte(after())) && before() != c) return add_sign(c);
    if (c == '*' && is_blank(before()) && is_blank(after())) return add_sign(c);
    if (c == '-' && is_minus()) return add_sign(c);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  std::vector<std::string> words_;
};

// --- Parts of a response ---

constexpr std::pair<std::string_view, std::string_view> kBoxTokens = {"<|begin_of_box|>", "<|end_of_box|>"};

std::string_view without_end_tokens(std::string_view response) {
  response = trim(response);
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view token : {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "</s>", "<eos>"})
      if (response.ends_with(token)) {
        response = trim(response.substr(0, response.size() - token.size()));
        found = true;
      }
  }
  return response;
}

// Without thoughts: what stands behind the last </think>, unless nothing does.
std::string_view behind_thoughts(std::string_view response, std::string_view lower) {
  for (const std::string_view close : {"</think>", "</thinking>", "\u25c1/think\u25b7"}) {
    const std::size_t end = lower.rfind(close);
    if (end != lower.npos && !trim(response.substr(end + close.size())).empty())
      return response.substr(end + close.size());
  }
  return response;
}

// Does a response end within its thoughts?
bool ends_in_thoughts(std::string_view lower) {
  const std::size_t open = std::max(lower.rfind("<think>") + 1, lower.rfind("<thinking>") + 1);
  const std::size_t close = std::max(lower.rfind("</think>") + 1, lower.rfind("</thinking>") + 1);
  return open > close;
}

// Between the last `open` that is closed and what closes it; without one, behind the last `open`.
std::optional<std::string_view> last_between(std::string_view text, std::string_view lower, std::string_view open,
                                             std::string_view close) {
  const std::size_t end = lower.rfind(close);
  std::size_t begin = end == lower.npos ? end : lower.rfind(open, end);
  if (begin == lower.npos) begin = lower.rfind(open);
  if (begin == lower.npos) return {};
  const std::size_t from = begin + open.size(), before = begin > 0 ? lower.rfind(open, begin - 1) : lower.npos;
  if (trim(text.substr(from)).empty() && before != lower.npos)  // "<answer>B<answer>"
    return text.substr(before + open.size(), begin - before - open.size());
  return text.substr(from, lower.find(close, from) - from);
}

std::optional<std::string_view> last_full_box(std::string_view text) {
  const auto tokens = last_between(text, text, kBoxTokens.first, kBoxTokens.second);
  if (tokens && !trim(*tokens).empty()) return tokens;
  // An empty box says nothing: the one before it may.
  for (std::string_view rest = text;;) {
    const auto box = last_boxed(rest);
    if (!box) return {};
    if (!trim(box->of(rest)).empty()) return box->of(rest);
    if (rest.size() != text.size()) return {};  // two empty boxes in a row: none is looked for before them
    rest = rest.substr(0, box->begin - 1);
  }
}

std::string without_scores(std::string_view text, std::string_view lower) {
  std::string kept;
  std::size_t from = 0;
  for (std::size_t at = lower.find("<score>"); at != lower.npos; at = lower.find("<score>", from)) {
    kept += text.substr(from, at - from);
    const std::size_t end = lower.find("</score>", at);
    from = end == lower.npos ? text.size() : end + 8;
  }
  kept += text.substr(std::min(from, text.size()));
  for (const char* tag : {"<think>", "</think>", "<answer>", "</answer>"}) kept = replace_all(kept, tag, "\n");
  return kept;
}

// The value of "answer" in the JSON object that ends a text, fenced or not. Its start is the text's first brace, or the
// last before that key.
std::optional<std::string> answer_in_object(std::string_view raw) {
  const std::size_t end = raw.rfind('}'), key = std::min(raw.rfind("nswer\""), raw.size());
  if (end == raw.npos || key >= end || raw.find_first_not_of("}` \n\r\t", end) != raw.npos) return {};
  for (const std::size_t begin : {raw.find('{'), raw.rfind('{', key)}) {
    if (begin == raw.npos || begin > key) continue;
    const auto parsed = parse_json(raw.substr(begin, end - begin + 1));
    if (!parsed.fault.empty() || !parsed.value.is_object()) continue;
    for (const char* name : {"final_answer", "answer", "Answer"}) {
      if (!parsed.value.contains(name)) continue;
      const auto& value = parsed.value[name];
      if (value.is_string()) return value.get<std::string>();
      if (value.is_number() || value.is_boolean()) return value.dump();
    }
  }
  return {};
}

}  // namespace

AnswerPart without_object(AnswerPart part) {
  if (const auto answer = answer_in_object(part.raw)) part.text = plain_text(*answer);
  return part;
}

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool is_word_byte(char c) { return is_digit(c) || is_letter(c) || static_cast<unsigned char>(c) >= 0x80; }

std::vector<std::string> answer_words(std::string_view text) { return WordReader(to_lower(plain_text(text))).read(); }

std::string answer_form(std::string_view text) {
  std::string form;
  for (const std::string& word : answer_words(text)) form += (form.empty() ? "" : " ") + word;
  if (!form.empty()) return form;
  form = to_lower(plain_text(text));
  if (form.size() > 1 && form.ends_with('.')) form.pop_back();
  return form;
}

AnswerPart answer_part(std::string_view response) {
  response = without_end_tokens(response);
  const std::string whole = ascii_lower(response);
  const std::string_view said = behind_thoughts(response, whole);
  const std::string_view lower =
      std::string_view(whole).substr(static_cast<std::size_t>(said.data() - response.data()));
  for (const char* name : {"answer", "final_answer"}) {
    const auto inside = last_between(said, lower, fmt::format("<{}>", name), fmt::format("</{}>", name));
    if (!inside) continue;
    const std::string_view raw = trim(last_full_box(*inside).value_or(*inside));
    return {AnswerPart::Kind::tag, plain_text(raw), std::string(raw)};
  }
  if (const auto box = last_full_box(said)) return {AnswerPart::Kind::box, plain_text(*box), std::string(trim(*box))};
  if (ends_in_thoughts(whole)) return {AnswerPart::Kind::whole, "", ""};
  const std::string kept = without_scores(said, lower);
  return {AnswerPart::Kind::whole, plain_text(kept), std::string(trim(kept))};
}

std::string_view to_string(AnswerPart::Kind kind) {
  return kind == AnswerPart::Kind::tag ? "<answer>" : kind == AnswerPart::Kind::box ? "\\boxed" : "the whole response";
}

std::string_view without_copula(std::string_view text) {
  constexpr std::string_view kIs = "\u662f";
  text = trim(text);
  if (text.ends_with('.')) text.remove_suffix(1);
  for (const std::string_view end : {"\u3067\u3059", "\u3067\u3057\u305f", "\u3067\u3042\u308b", "\u3060\u3063\u305f",
                                     "\u3060", "\uc785\ub2c8\ub2e4", "\uc774\ub2e4", "\uc774\uc5d0\uc694",
                                     "\uc608\uc694", "\uc774\uc5c8\uc2b5\ub2c8\ub2e4", "\u7684"})
    if (text.size() > end.size() && text.ends_with(end)) {
      text = text.substr(0, text.size() - end.size());
      break;
    }
  if (text.size() > kIs.size() && text.starts_with(kIs)) text = text.substr(kIs.size());
  return text;
}

std::string_view last_line(std::string_view plain) {
  const std::size_t line = plain.rfind('\n');
  return line == plain.npos ? plain : plain.substr(line + 1);
}

}  // namespace agon::env
