#include "env/grading/answer/phrases.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

constexpr std::size_t kMostPhrases = 64, kLongestPhrase = 1 << 16;
constexpr std::size_t kLongestConnection = 60;  // bytes between "answer" and "is"

// Words that introduce an answer. `qualified`: only after "correct" and the like; `direct`: without "is" after them.
struct Cue {
  std::string_view noun;
  bool qualified = false, direct = false;
};
constexpr Cue kCues[] = {{"answer"},
                         {"ans"},
                         {"option", true},
                         {"choice", true},
                         {"match", true},
                         {"one", true},
                         {"antwort"},
                         {"r\u00e9ponse"},
                         {"respuesta"},
                         {"opci\u00f3n correcta"},
                         {"risposta"},
                         {"resposta"},
                         {"alternativa correta"},
                         {"op\u00e7\u00e3o correta"},
                         {"\u043e\u0442\u0432\u0435\u0442"},
                         {"\u041e\u0442\u0432\u0435\u0442"},
                         {"\u043e\u0442\u0432\u0435\u0442 \u2014", false, true},
                         {"\u041e\u0442\u0432\u0435\u0442 \u2014", false, true},
                         {"\u043e\u0442\u0432\u0435\u0442 -", false, true},
                         {"\u041e\u0442\u0432\u0435\u0442 -", false, true},
                         {"\u7b54\u6848"},
                         {"\u6b63\u786e\u9009\u9879"},
                         {"\u6b63\u786e\u7684\u9009\u9879"},
                         {"\u7b54\u3048"},
                         {"\u6b63\u89e3"},
                         {"\u6b63\u3057\u3044\u9078\u629e\u80a2"},
                         {"\ub2f5"},
                         {"\u0627\u0644\u062c\u0648\u0627\u0628"},
                         {"\u0627\u0644\u0625\u062c\u0627\u0628\u0629"},
                         {"cevap"},
                         {"\u0111\u00e1p \u00e1n"},
                         {"\u0110\u00e1p \u00e1n"},
                         {"\u0909\u0924\u094d\u0924\u0930"},
                         {"####", false, true},
                         {"\u6545\u9009", false, true},
                         {"\u5e94\u9009", false, true},
                         {"\u7b54\u6848\u9009", false, true},
                         {"\u7b54\u6848]", false, true}};
constexpr std::string_view kConnectors[] = {
    ":",       "=",         " is ",   " is\n",   " was ",    " be ",           " are ",
    " ist ",   " lautet ",  " est ",  " es ",    " \u00e8 ", " \u00e9 ",       "\u662f",
    "\u4e3a",  "\u70ba",    "\u306f", "\uc740 ", "\ub294 ",  " \u0647\u0648 ", " \u0647\u064a ",
    " \u2192", " l\u00e0 ", "->",     "\u21d2"};
// Before "answer": not the answer that the text gives.
constexpr std::string_view kOthers[] = {"wrong",  "incorrect", "alternative", "other",    "another",
                                        "second", "worst",     "false",       "tempting", "no",
                                        "your",   "falsche",   "mauvaise",    "to",       "cannot"};
constexpr std::string_view kQualifiers[] = {"correct",     "right",   "best",     "final", "true",
                                            "appropriate", "closest", "accurate", "only",  "actual"};
// Before the noun and its articles: the text does not give this answer, or no longer.
constexpr std::string_view kUnsaid[] = {
    "don't think", "do not think", "don't believe", "doubt",       "doubt that",      "not sure",
    "whether",     "thought",      "assumed",       "guessed",     "not think",       "if",
    "might think", "may think",    "would think",   "could think", "tempting to say", "look like",
    "looks like",  "seem that",    "seems that",    "seems like",  "appear that"};
// Between the noun and its value: the answer is uncertain.
constexpr std::string_view kHedged[] = {" would ", " could ", " might ",    " may ",
                                        " appear", " seem",   " possibly ", " perhaps "};
// May stand between the connector and the answer.
constexpr std::string_view kFillers[] = {"therefore", "thus",     "then",   "simply",  "just",       "exactly",
                                         "likely",    "most",     "indeed", "clearly", "definitely", "probably",
                                         "equal to",  "given by", "that",   "hence",   "also",       "actually"};
// Values that are more often remarks about an answer than answers: such a phrase comes last.
constexpr std::string_view kRemarks[] = {"correct", "right", "wrong",      "incorrect", "helpful",  "clear",
                                         "above",   "below", "as follows", "in the",    "based on", "unclear"};

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !is_word_byte(text[word.size()]));
}

class PhraseFinder {
 public:
  explicit PhraseFinder(std::string_view plain) : plain_(plain), lower_(ascii_lower(plain)) {}

  std::vector<Phrase> find() {
    for (const Cue& cue : kCues) find_cue(cue);
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      if (a.remark != b.remark) return b.remark;
      return a.final != b.final ? a.final : a.begin > b.begin;
    });
    std::vector<Phrase> phrases;
    for (const Found& one : found_) {
      if (phrases.size() == kMostPhrases) break;
      const std::size_t end = std::min(plain_.find('\n', one.begin), one.begin + kLongestPhrase);
      const std::string_view line = plain_.substr(one.begin, end - one.begin);
      phrases.push_back({std::string(trim(line)), std::string(first_sentence(trim(line)))});
    }
    return phrases;
  }

 private:
  struct Found {
    bool remark, final;
    std::size_t begin;
  };

  // Adds the last places of the noun; earlier ones would not be used.
  void find_cue(const Cue& cue) {
    std::size_t at = lower_.rfind(cue.noun);
    for (std::size_t count = 0; at != lower_.npos && count < kMostPhrases; ++count) {
      add(cue, at);
      at = at == 0 ? lower_.npos : lower_.rfind(cue.noun, at - 1);
    }
  }

  void add(const Cue& cue, std::size_t at) {
    const bool ascii = is_letter(cue.noun[0]);
    if (ascii && at > 0 && is_word_byte(lower_[at - 1])) return;
    const std::string_view qualifier = word_before(lower_, at);
    if (cue.qualified && std::find(std::begin(kQualifiers), std::end(kQualifiers), qualifier) == std::end(kQualifiers))
      return;
    const bool possessive = qualifier == "s" && qualifier.data() > lower_.data() && *(qualifier.data() - 1) == '\'';
    const bool lesser = ends_with_any(std::string_view(lower_).substr(0, at),
                                      std::initializer_list<std::string_view>{"second-best ", "least likely "});
    if (ascii &&
        (possessive || lesser || std::find(std::begin(kOthers), std::end(kOthers), qualifier) != std::end(kOthers)))
      return;
    if (!ascii && std::string_view(lower_).substr(0, at).ends_with("不")) return;  // 不应选
    const std::size_t behind = at + cue.noun.size();
    const auto begin = cue.direct ? std::optional(behind) : behind_connector(at, behind, ascii);
    if (!begin) return;
    const std::size_t value = denier_before(behind, skip_fillers(*begin));
    const std::string_view rest = std::string_view(lower_).substr(std::min(value, lower_.size()));
    if (rest.empty()) return;
    const bool remark = std::any_of(std::begin(kRemarks), std::end(kRemarks),
                                    [&](std::string_view word) { return starts_with_word(rest, word); });
    if (ascii && is_unsaid(at)) return;
    // "If the bus were red, the answer would be D.", "The answer could be C, but .."
    const bool hedged = contains_any(std::string_view(lower_).substr(behind, value - behind), kHedged);
    found_.push_back({remark || hedged, qualifier == "final" || cue.noun == "####", value});
  }

  // "I don't think the answer is blue", "I thought the answer was 30".
  bool is_unsaid(std::size_t at) const {
    std::string_view left =
        trim(std::string_view(lower_).substr(at - std::min<std::size_t>(at, 60), std::min<std::size_t>(at, 60)));
    for (const std::string_view word : {"correct", "right", "final", "the", "that", "my"})
      if (left.ends_with(word) && (left.size() == word.size() || left[left.size() - word.size() - 1] == ' '))
        left = trim(left.substr(0, left.size() - word.size()));
    return std::any_of(std::begin(kUnsaid), std::end(kUnsaid), [&](std::string_view words) {
      return left.ends_with(words) &&
             (left.size() == words.size() || !is_word_byte(left[left.size() - words.size() - 1]));
    });
  }

  // The position after "is", ":" and the like in the noun's sentence; the value of a heading is the next line.
  std::optional<std::size_t> behind_connector(std::size_t at, std::size_t behind, bool ascii) {
    std::string_view rest = std::string_view(lower_).substr(behind, kLongestConnection);
    if (ascii && rest.starts_with('s')) {
      rest.remove_prefix(1);
      ++behind;
    }
    if (ascii && !rest.empty() && is_word_byte(rest[0])) return {};
    std::size_t first = rest.npos, size = 0;
    for (const std::string_view connector : kConnectors)
      if (const std::size_t place = rest.find(connector); place < first) {
        first = place;
        size = connector.size() - (connector.ends_with('\n') ? 1 : 0);
      }
    const std::size_t stop = rest.starts_with('\n') ? 0 : std::min(first_sentence(rest).size(), rest.find('\n'));
    if (stop < first && stop < rest.size()) {
      const bool heading = stop == 0 && rest[0] == '\n' && word_before(lower_, at).size() + 1 >= at - line_begin(at);
      return heading ? std::optional(behind + 1) : std::nullopt;
    }
    return first == rest.npos ? std::nullopt : std::optional(behind + first + size);
  }
  // "答案不是B", "no es B": the value begins with its denial, if that stands from `from` on.
  std::size_t denier_before(std::size_t from, std::size_t value) const {
    for (const std::string_view denier :
         {" can't be ", " cannot be ", " can not be ", " couldn't be ", " could not be ", "\u4e0d\u662f",
          "\u4e0d\u4e3a", " no es ", " no \u00e9 ", " non \u00e8 ", " n\u00e3o \u00e9 "})
      if (value >= from + denier.size() && lower_.substr(value - denier.size(), denier.size()) == denier)
        return value - denier.size();
    return value;
  }
  std::size_t line_begin(std::size_t at) const {
    const std::size_t line = at > 0 ? lower_.rfind('\n', at - 1) : lower_.npos;
    return line == lower_.npos ? 0 : line + 1;
  }

  std::size_t skip_fillers(std::size_t at) const {
    for (int i = 0; i < 6; ++i) {
      at = std::min(lower_.find_first_not_of(" :=\n", at), lower_.size());
      const std::string_view rest = std::string_view(lower_).substr(at);
      const auto filler = std::find_if(std::begin(kFillers), std::end(kFillers),
                                       [&](std::string_view word) { return starts_with_word(rest, word); });
      if (filler == std::end(kFillers)) break;
      at += filler->size();
      if (lower_[std::min(at, lower_.size() - 1)] == ',') ++at;
    }
    return at;
  }

  std::string_view plain_;
  std::string lower_;
  std::vector<Found> found_;
};

}  // namespace

std::vector<Phrase> answer_phrases(std::string_view plain) { return PhraseFinder(plain).find(); }

}  // namespace agon::env
