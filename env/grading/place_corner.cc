#include "env/grading/place_corner.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/near_place.h"

namespace agon::env {
namespace {

struct CornerName {
  std::string_view name;
  Corner corner;
};
constexpr CornerName kCorners[] = {{"top left", Corner::top_left},
                                   {"upper left", Corner::top_left},
                                   {"left top", Corner::top_left},
                                   {"left upper", Corner::top_left},
                                   {"bottom right", Corner::bottom_right},
                                   {"lower right", Corner::bottom_right},
                                   {"right bottom", Corner::bottom_right},
                                   {"right lower", Corner::bottom_right},
                                   {"top right", Corner::top_right},
                                   {"upper right", Corner::top_right},
                                   {"right top", Corner::top_right},
                                   {"bottom left", Corner::bottom_left},
                                   {"lower left", Corner::bottom_left},
                                   {"left bottom", Corner::bottom_left},
                                   {"\u5de6\u4e0a", Corner::top_left},
                                   {"\u53f3\u4e0b", Corner::bottom_right},
                                   {"\u53f3\u4e0a", Corner::top_right},
                                   {"\u5de6\u4e0b", Corner::bottom_left},
                                   {"oben links", Corner::top_left},
                                   {"unten rechts", Corner::bottom_right},
                                   {"superior izquierda", Corner::top_left},
                                   {"inferior derecha", Corner::bottom_right},
                                   {"sup\u00e9rieur gauche", Corner::top_left},
                                   {"inf\u00e9rieur droit", Corner::bottom_right}};
constexpr CornerName kEnds[] = {
    {"starts", Corner::top_left},    {"start", Corner::top_left},        {"starting", Corner::top_left},
    {"begins", Corner::top_left},    {"beginning", Corner::top_left},    {"from", Corner::top_left},
    {"ends", Corner::bottom_right},  {"end", Corner::bottom_right},      {"ending", Corner::bottom_right},
    {"to", Corner::bottom_right},    {"finishes", Corner::bottom_right}, {"\u4ece", Corner::top_left},
    {"\u5230", Corner::bottom_right}};
// Words between a corner's name and its point.
constexpr std::string_view kCornerLinks[] = {
    "corner",     "corners",   "is",       "at",       "coordinates", "coordinate", "point",  "vertex", "located",
    "of",         "the",       "its",      "position", "x1",          "y1",         "x2",     "y2",     "x",
    "y",          "in",        "as",       "px",       "being",       "has",        "with",   "are",    "box",
    "bounding",   "rectangle", "hand",     "side",     "was",         "lies",       "coords", "a",      "an",
    "edge",       "and",       "on",       "to",       "up",          "location",   "for",    "it",     "sits",
    "positioned", "found",     "placed",   "region",   "ecke",        "bei",        "ist",    "est",    "en",
    "esquina",    "coin",      "h\u00f6rt"};
constexpr std::string_view kChineseLinks[] = {"\u89d2",       "\u5750\u6807", "\u4e3a", "\u662f", "\u4f4d\u4e8e",
                                              "\u5728",       "\u70b9",       "\u7684", "\u9876", "\u5904",
                                              "\u4f4d\u7f6e", "\u5230",       "\u8fb9"};

// Does a text hold only words that link a corner's name and its point?
bool only_links(std::string_view text) {
  for (const std::string_view whole : words_near(text)) {
    if (is_among(whole, kCornerLinks)) continue;
    std::string_view word = whole;
    while (!word.empty()) {
      const auto link = std::find_if(std::begin(kChineseLinks), std::end(kChineseLinks),
                                     [&](std::string_view one) { return word.starts_with(one); });
      if (link == std::end(kChineseLinks)) return false;
      word.remove_prefix(link->size());
    }
  }
  return true;
}

std::string corner_text(std::string_view text) {
  std::string lower = to_lower(text);
  std::replace(lower.begin(), lower.end(), '-', ' ');
  std::replace(lower.begin(), lower.end(), '_', ' ');
  return lower;
}

// "the icon in the top-left corner": the corner says where a thing is, and is not a point.
bool says_where(std::string_view before) {
  constexpr std::string_view kWhere[] = {" in the ", " at the ", " on the ", " near the ", " in its ", " near its "};
  return ends_with_any(before, kWhere);
}

template <typename Names>
std::optional<Corner> last_corner(std::string_view lower, const Names& names) {
  std::size_t last = 0;
  std::optional<Corner> corner;
  for (const CornerName& one : names) {
    const auto [at, size] = last_word(lower, std::initializer_list<std::string_view>{one.name});
    if (at == lower.npos || at + size <= last || says_where(lower.substr(0, at)) ||
        !only_links(lower.substr(at + size)))
      continue;
    last = at + size;
    corner = one.corner;
  }
  return corner;
}

// The corner named after a point: " in the bottom right", " (top-left)", "为左上角", "is the top-left corner".
std::optional<Corner> corner_behind(std::string_view after) {
  constexpr std::string_view kLinks[] = {"in ",    "at ",    "as ",          "is ",   "on ",   "for ",
                                         "being ", "the ",   "its ",         "(",     "[",     ",",
                                         "\u4e3a", "\u662f", "\u4f5c\u4e3a", "(the ", "which "};
  const std::string text = corner_text(start_of(after).substr(0, 48));
  std::string_view rest = behind(text, " )]}'*`");
  if (rest.empty() || rest[0] == ',') return {};
  for (int i = 0; i < 3; ++i)
    for (const std::string_view link : kLinks)
      if (rest.starts_with(link)) rest = behind(rest.substr(link.size()), " ");
  if (rest.data() == behind(text, " )]}'*`").data()) return {};
  for (const CornerName& one : kCorners)
    if (starts_with_word(rest, one.name)) return one.corner;
  return {};
}

}  // namespace

Corner opposite(Corner corner) {
  switch (corner) {
    case Corner::top_left:
      return Corner::bottom_right;
    case Corner::bottom_right:
      return Corner::top_left;
    case Corner::top_right:
      return Corner::bottom_left;
    case Corner::bottom_left:
      return Corner::top_right;
  }
  return corner;
}

std::optional<Corner> corner_of_point(std::string_view before, std::string_view after) {
  if (const auto corner = corner_behind(after)) return corner;
  const std::string lower = corner_text(end_of(before));
  if (const auto corner = last_corner(lower, kCorners)) return corner;
  return last_corner(lower, kEnds);
}

}  // namespace agon::env
