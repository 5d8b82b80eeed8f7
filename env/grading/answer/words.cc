#include "env/grading/answer/words.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/answer/text.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

bool is_article(std::string_view word) { return word == "a" || word == "an" || word == "the"; }

constexpr std::size_t kLongestCharged = 4;  // bytes of "Cl-", "AB-": the hyphen at the end of longer words is dropped

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

  // Does a term of a formula begin at `at`: a digit, a bracket, a sign such as √, a letter that stands alone?
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
  // Does a term end before: a bracket, a word of one character or with a digit?
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

}  // namespace

std::vector<std::string> answer_words(std::string_view text) { return WordReader(to_lower(plain_text(text))).read(); }

std::string answer_form(std::string_view text) {
  std::string form;
  for (const std::string& word : answer_words(text)) form += (form.empty() ? "" : " ") + word;
  if (!form.empty()) return form;
  form = to_lower(plain_text(text));
  if (form.size() > 1 && form.ends_with('.')) form.pop_back();
  return form;
}

}  // namespace agon::env
