#include "env/grading/answer/scale_word.h"

#include <algorithm>
#include <string>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"

namespace agon::env {
namespace {

struct Words {
  int exponent;
  std::string_view words;  // in lower case, each followed by a blank
  int factor = 1;
};

constexpr Words kScales[] = {
    {0, "dozen dozens ", 12},
    {2, "hundred 백 "},
    {3,
     "thousand thousands tausend tsd tsd. mille mil mila tusen tusind duizend tys tys. tysiąc tysiące tysięcy tisíc "
     "тысяча тысячи тысяч тыс тыс. тисяча тисячі тисяч тис χιλιάδες ribu nghìn ngàn "
     "हजार हज़ार হাজার ألف الف آلاف هزار אלף אלפים 千 천 พัน "},
    {4, "万 萬 만 หมื่น "},
    {5, "lakh lakhs लाख লাখ লক্ষ แสน "},
    {6,
     "million millions mn mln mln. mio mio. millionen millón millones milione milioni milhão milhões miljoen miljoner "
     "millioner milion miliony milionów milionů milioane milyon triệu juta миллион миллиона миллионов млн млн. "
     "мільйон мільйони мільйонів εκατομμύρια εκατομμύριο मिलियन মিলিয়ন مليون ملايين میلیون מיליון 百万 百萬 ล้าน "},
    {7, "crore crores करोड़ কোটি "},
    {8, "亿 億 억 "},
    {9,
     "billion billions bn bln bln. milliarde milliarden milliard milliards mrd mrd. miliardo miliardi bilhão bilhões "
     "miljard miljarder milliarder miliard miliardy miliardów miliar milyar mld mld. tỷ tỉ "
     "миллиард миллиарда миллиардов млрд млрд. мільярд мільярди мільярдів δισεκατομμύρια δισεκατομμύριο "
     "अरब مليار مليارات میلیارد מיליארד "},
    {12, "trillion trillions trilyon triliun триллион триллиона триллионов трлн 兆 조 "},
    {15, "quadrillion "},
};

// lower: the text's start in lower case.
bool begins_with_word(std::string_view lower, std::string_view word) {
  return lower.starts_with(word) &&
         (!is_parted(word) || lower.size() == word.size() || !is_word_byte(lower[word.size()]));
}

}  // namespace

std::optional<Scale> scale_word(std::string_view text) {
  constexpr std::size_t kLongestWord = 48;
  const std::string lower = ascii_lower(text.substr(0, kLongestWord));
  if (lower.empty() || !is_word_byte(lower[0])) return {};
  Scale found;
  for (const Words& scale : kScales)
    for (std::string_view rest = scale.words; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      rest.remove_prefix(word.size() + 1);
      if (word.size() > found.bytes && begins_with_word(lower, word))
        found = {word.size(), scale.exponent, scale.factor};
    }
  return found.bytes > 0 ? std::optional(found) : std::nullopt;
}

}  // namespace agon::env
