// Reads a text from left to right as tuples of numbers and named numbers.
#include "env/grading/box_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "env/grading/characters.h"
#include "env/grading/place_corner.h"
#include "env/grading/place_said.h"

namespace agon::env {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

constexpr std::string_view kOpenTags[] = {"<box>",           "<|box_start|>", "<bbox>",  "<point>",        "<points>",
                                          "<|point_start|>", "<|det|>",       "<coord>", "<bounding_box>", "<click>"};
constexpr std::string_view kCloseTags[] = {"</box>",        "<|box_end|>", "</bbox>",  "</point>",        "</points>",
                                           "<|point_end|>", "<|/det|>",    "</coord>", "</bounding_box>", "</click>"};
// JSON keys of places that may be written as texts, and of texts that name no place.
constexpr std::string_view kPlaceKeys[] = {"coord", "box", "point", "position", "element"};
constexpr std::string_view kTextKeys[] = {
    "label",          "name",          "text",        "description", "caption",     "object",    "class",
    "category",       "reason",        "thought",     "title",       "explanation", "reasoning", "rationale",
    "analysis",       "thinking",      "comment",     "note",        "comments",    "notes",     "alt",
    "thoughts",       "justification", "observation", "context",     "summary",     "remark",    "remarks",
    "elementinfo",    "elementtype",   "elementname", "elementtext", "reflection",  "evidence",  "explain",
    "chainofthought", "cot",           "think",       "reasons",     "details"};

// A part of the text that the reader distinguishes.
struct Token {
  enum class Kind { open, close, open_tag, close_tag, comma, number, location, name, other, end } kind = Kind::end;
  double number = 0;
  std::string_view text;
};
using Kind = Token::Kind;

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    if (at_ == text_.size()) return {};
    const char c = text_[at_];
    if (c == '<')
      for (const auto& [tags, kind] :
           {std::pair{std::begin(kOpenTags), Kind::open_tag}, std::pair{std::begin(kCloseTags), Kind::close_tag}})
        for (std::size_t i = 0; i < std::size(kOpenTags); ++i)
          if (text_.substr(at_).starts_with(tags[i])) return take(kind, tags[i].size());
    if (c == '<')
      if (const Token location = location_at(); location.kind == Kind::location) return location;
    if (c == '[' || c == '(') return take(Kind::open, 1);
    if (c == ']' || c == ')') return take(Kind::close, 1);
    if (c == ',') return take(Kind::comma, 1);
    if (is_letter(c) || c == '_') return word();
    const bool sign = c == '-' || c == '+';
    const std::size_t first = at_ + sign;
    const bool number =
        first < text_.size() &&
        (is_digit(text_[first]) || (text_[first] == '.' && first + 1 < text_.size() && is_digit(text_[first + 1])));
    return number ? number_at(first, c == '-') : take(Kind::other, 1);
  }

  // Moves to the tag that closes a point, if there is one: the text before it is the point's label.
  void skip_label() {
    for (const std::string_view close : {"</point>", "</points>"})
      if (unclosed_ > at_)
        if (const std::size_t end = text_.find(close, at_); end != text_.npos) {
          at_ = end;
          return;
        }
    unclosed_ = at_;
  }
  // Moves past the end of the quoted text that continues here.
  void skip_text(char quote) {
    while (at_ < text_.size() && text_[at_] != quote) at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

 private:
  Token take(Kind kind, std::size_t size) {
    const std::string_view text = text_.substr(at_, size);
    at_ += size;
    return {kind, 0, text};
  }
  // <loc_102>, as Florence writes it.
  Token location_at() {
    constexpr std::string_view kStart = "<loc_";
    if (!text_.substr(at_).starts_with(kStart)) return {};
    const char* const begin = text_.data() + at_ + kStart.size();
    int value = 0;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc() || value < 0 || end == text_.data() + text_.size() || *end != '>') return {};
    Token token = take(Kind::location, static_cast<std::size_t>(end + 1 - (text_.data() + at_)));
    token.number = value;
    return token;
  }
  Token word() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '_')) ++end;
    return take(Kind::name, end - at_);
  }
  // A number that is not a coordinate becomes a token of another kind.
  Token number_at(std::size_t first, bool negative) {
    double value = 0;
    const auto [end, code] = std::from_chars(text_.data() + first, text_.data() + text_.size(), value);
    const auto size = static_cast<std::size_t>(end - (text_.data() + at_));
    Token token = take(Kind::number, std::max<std::size_t>(size, 1));
    token.number = negative ? -value : value;
    if (code != std::errc() || !(std::abs(value) <= kLargestCoordinate)) token.kind = Kind::other;
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0, unclosed_ = std::string_view::npos;  // no point is closed after unclosed_
};

Box box_of(double x1, double y1, double x2, double y2) {
  return {std::min(x1, x2), std::min(y1, y2), std::max(x1, x2), std::max(y1, y2)};
}

// The names of four sides, in the order of a box's; the last two of the second kind are sizes.
struct Sides {
  std::array<std::string_view, 4> names;
  bool sizes = false;
};
constexpr Sides kSides[] = {{{"x1", "y1", "x2", "y2"}},
                            {{"x0", "y0", "x1", "y1"}},
                            {{"xmin", "ymin", "xmax", "ymax"}},
                            {{"left", "top", "right", "bottom"}},
                            {{"x", "y", "width", "height"}, true},
                            {{"x", "y", "w", "h"}, true},
                            {{"left", "top", "width", "height"}, true}};

std::string side_name(std::string_view text) {
  std::string name;
  for (const char c : text)
    if (c != '_') name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name;
}

// Reads tokens one by one and keeps the last point and the last box.
class PlaceReader {
 public:
  explicit PlaceReader(std::string_view text) : text_(text), tokens_(text) {}

  void read() {
    for (Token token = tokens_.next(); token.kind != Kind::end; token = tokens_.next()) {
      begin_ = static_cast<std::size_t>(token.text.data() - text_.data());
      end_ = begin_ + token.text.size();
      if (token.kind == Kind::location) {
        location(token.number);
        continue;
      }
      end_locations();
      if (token.kind == Kind::name) {
        named(token);
        continue;
      }
      if (labelled_ && token.text == ">") {
        labelled_ = false;
        tokens_.skip_label();
      }
      if (token.kind == Kind::number)
        number(token.number);
      else if (!quoted_value(token))
        mark(token);
      const bool equals = token.kind == Kind::other && (token.text == ":" || token.text == "=");
      const bool quote = token.kind == Kind::other && (token.text == "\"" || token.text == "'");
      value_ = !name_.empty() && (equals || (value_ && quote));
      if (!equals && !quote) name_.clear();
    }
    end_locations();
    end_points();
  }
  std::optional<Box> box, place;  // the last box; the last of boxes and points

 private:
  // A part of the text.
  struct Span {
    std::size_t begin = 0, end = 0;
  };

  std::string_view before(Span span) const { return text_.substr(0, span.begin); }
  std::string_view after(Span span) const { return text_.substr(span.end); }
  struct CornerPoint {
    Corner corner;
    double x, y;
    Span span;
  };
  static constexpr std::size_t kFarthest = 160;  // bytes between two corners

  // The text from the last place to the span.
  std::string_view between(Span span) const {
    return text_.substr(last_end_, std::max(span.begin, last_end_) - last_end_);
  }
  bool is_denied(Span span) const { return denies_place(before(span), after(span)); }

  // Keeps a box, or a point, unless it is the landmark of an earlier place.
  void found(const Box& one, Span span, bool point = false) {
    const bool beside = place && names_landmark(between(span), after(span), beside_);
    if (!point && !(beside && box)) box = one;
    if (!beside) place = one;
    beside_ = beside;
    last_end_ = std::max(last_end_, span.end);
  }

  // A text under a key of places is a tuple ("coordinate": "500,300"); one under "label" and the like names no place.
  bool quoted_value(const Token& token) {
    const bool quote = token.kind == Kind::other && (token.text == "\"" || token.text == "'");
    if (quote && quoted_) {
      close_tuple(!comma_);
      return true;
    }
    if (!quote || !value_) return false;
    if (std::find(std::begin(kTextKeys), std::end(kTextKeys), name_) != std::end(kTextKeys)) {
      tokens_.skip_text(token.text[0]);
      value_ = false;
      return true;
    }
    const bool of_place = std::any_of(std::begin(kPlaceKeys), std::end(kPlaceKeys),
                                      [&](std::string_view key) { return name_.find(key) != name_.npos; });
    if (!of_place || open_) return false;
    open_tuple(token);
    tagged_ = quoted_ = true;
    return true;
  }

  void open_tuple(const Token& token) {
    close_tuple(false);
    open_ = true;
    open_begin_ = static_cast<std::size_t>(token.text.data() - text_.data());
  }

  void location(double value) {
    close_tuple(false);
    end_points();
    if (locations_.empty()) locations_span_.begin = begin_;
    locations_span_.end = end_;
    locations_.push_back(value);
  }
  // Four locations are a box, and of eight the last four; two are a point.
  void end_locations() {
    const std::size_t count = locations_.size();
    if (count == 0) return;
    const double* const last = locations_.data() + count - std::min<std::size_t>(count, 4);
    if ((count == 4 || count == 8) && !is_denied(locations_span_))
      found(box_of(last[0], last[1], last[2], last[3]), locations_span_);
    else if (count == 2 && !is_denied(locations_span_))
      found({last[0], last[1], last[0], last[1]}, locations_span_, true);
    locations_.clear();
  }

  void named(const Token& token) {
    if (open_ && (token.text == "px" || token.text == "pixels")) return;
    if ((token.text == "point" || token.text == "points") && before({begin_, end_}).ends_with('<')) labelled_ = true;
    close_tuple(false);
    value_ = false;
    name_ = side_name(token.text.substr(0, 16));
    name_begin_ = begin_;
    if (name_ == "topleft" || name_ == "lefttop") corner_ = 0;
    if (name_ == "bottomright" || name_ == "rightbottom") corner_ = 1;
    constexpr std::string_view kBetween[] = {
        "and", "to", "top", "bottom", "left", "right",   "upper",       "lower",    "corner", "is",    "at",
        "the", "x1", "y1",  "x2",     "y2",   "topleft", "bottomright", "starting", "ending", "start", "end"};
    if (std::find(std::begin(kBetween), std::end(kBetween), name_) == std::end(kBetween)) end_points();
  }

  void number(double value) {
    if (!name_.empty() && !open_) {
      side(value);
      return;
    }
    if (open_ && values_.size() < 9)
      values_.push_back(value);
    else
      close_tuple(false);
    comma_ = false;
  }

  void mark(const Token& token) {
    switch (token.kind) {
      case Kind::open:
      case Kind::open_tag:
        open_tuple(token);
        if (token.kind == Kind::open_tag) end_points();
        tagged_ = token.kind == Kind::open_tag;
        return;
      case Kind::close:
      case Kind::close_tag:
        close_tuple(!comma_);
        if (token.kind == Kind::close_tag) end_points();
        return;
      case Kind::comma:
        if (comma_ || (open_ && values_.empty())) close_tuple(false);
        comma_ = true;
        return;
      default:
        if (token.text == "\"" || token.text == "'" || token.text == ":" || token.text == "=") return;
        if (tagged_ && (token.text == "<" || token.text == ">")) return;
        if (open_ && token.text == ";" && !comma_ && !values_.empty()) {
          comma_ = true;
          return;
        }
        close_tuple(false);
        if (token.text != "-") end_points();
    }
  }

  // Ends the open tuple. `whole`: its bracket closed it, so it counts.
  void close_tuple(bool whole) {
    if (whole && open_ && values_.size() == 4) {
      end_points();
      const Span span{open_begin_, end_};
      if (!is_denied(span)) found(box_of(values_[0], values_[1], values_[2], values_[3]), span);
    } else if (whole && open_ && values_.size() == 2) {
      add_point(values_[0], values_[1]);
    }
    open_ = tagged_ = comma_ = quoted_ = false;
    values_.clear();
  }

  void add_point(double x, double y) {
    const Span span{open_begin_, end_};
    if (points_.empty()) {
      row_.begin = span.begin;
      row_denied_ = false;
    }
    row_denied_ = row_denied_ || is_denied(span) || ends_with_size(before(span));
    row_.end = span.end;
    if (points_.size() == 4) points_.erase(points_.begin(), points_.begin() + 2);
    points_.push_back({x, y});
  }
  // Points in a row: two are corners; four are an upright rectangle, or two boxes, the last of which counts.
  void end_points() {
    const std::size_t count = points_.size();
    if (count == 0) return;
    const auto last = points_.back();
    if (row_denied_)
      corner_point_.reset();
    else if (count == 4 && is_rectangle())
      found(box_of(points_[0][0], points_[0][1], points_[2][0], points_[2][1]), row_);
    else if (count % 2 == 0)
      found(box_of(points_[count - 2][0], points_[count - 2][1], last[0], last[1]), row_);
    else
      end_point(last[0], last[1]);
    points_.clear();
  }
  // A single point: forms a box with the one before it if the text calls them opposite corners.
  void end_point(double x, double y) {
    const auto corner = corner_of_point(between(row_), after(row_));
    const auto first = corner_point_;
    const bool across = corner && first && first->corner == opposite(*corner) && row_.begin < last_end_ + kFarthest;
    corner_point_.reset();
    if (across) return found(box_of(first->x, first->y, x, y), {first->span.begin, row_.end});
    if (corner) corner_point_ = CornerPoint{*corner, x, y, row_};
    found({x, y, x, y}, row_, true);
  }
  bool is_rectangle() const {
    const auto same = [&](std::size_t a, std::size_t b, std::size_t axis) {
      return points_[a][axis] == points_[b][axis];
    };
    return (same(0, 1, 1) && same(1, 2, 0) && same(2, 3, 1) && same(3, 0, 0)) ||
           (same(0, 1, 0) && same(1, 2, 1) && same(2, 3, 0) && same(3, 0, 1));
  }

  // A named number: the last of each name counts. Four sides, or x and y, in any order, make a place.
  void side(double value) {
    const std::string name = name_;
    name_.clear();
    if (name.size() > 8) return sides_.clear();
    std::erase_if(sides_, [&](const auto& known) { return known.first == name; });
    if (sides_.size() == 8) sides_.erase(sides_.begin());
    if (sides_.empty()) sides_begin_ = name_begin_;
    const Span span{sides_begin_, end_};
    sides_.emplace_back(name, value);
    for (const Sides& sides : kSides)
      if (const auto one = box_with(sides)) {
        if (!is_denied(span)) found(*one, span);
        sides_.clear();
        return;
      }
    const auto x = side_called("x"), y = side_called("y");
    if (!x || !y) return;
    if (const auto corner = corner_ < 0 ? corner_of_point(between(span), {}) : std::nullopt)
      corner_ = corner == Corner::top_left ? 0 : corner == Corner::bottom_right ? 1 : -1;
    if ((name == "x" || name == "y") && !is_denied(span)) found({*x, *y, *x, *y}, span, true);
    if (corner_ < 0) return;
    corners_[static_cast<std::size_t>(corner_)] = {*x, *y};
    corner_ = -1;
    sides_.clear();
    if (corners_[0] && corners_[1]) {
      found(box_of((*corners_[0])[0], (*corners_[0])[1], (*corners_[1])[0], (*corners_[1])[1]), span);
      corners_ = {};
    }
  }
  std::optional<double> side_called(std::string_view name) const {
    for (const auto& [known, value] : sides_)
      if (known == name) return value;
    return {};
  }
  std::optional<Box> box_with(const Sides& sides) const {
    std::array<double, 4> values{};
    for (std::size_t i = 0; i < 4; ++i) {
      const auto value = side_called(sides.names[i]);
      if (!value) return {};
      values[i] = *value;
    }
    if (sides.sizes) return box_of(values[0], values[1], values[0] + values[2], values[1] + values[3]);
    return box_of(values[0], values[1], values[2], values[3]);
  }

  std::string_view text_;
  Tokens tokens_;
  bool open_ = false, tagged_ = false, comma_ = false, quoted_ = false;
  bool labelled_ = false;    // within <point x=..>, whose label follows
  bool row_denied_ = false;  // "not (500,300)"
  bool value_ = false;       // "=" or ":" followed name_
  int corner_ = -1;          // the corner whose x and y are read: 0, 1, or -1 for none
  std::array<std::optional<std::array<double, 2>>, 2> corners_;
  std::vector<double> values_;                 // of the open tuple
  std::vector<std::array<double, 2>> points_;  // in a row
  std::string name_;                           // before "=" or ":"
  std::vector<std::pair<std::string, double>> sides_;
  std::vector<double> locations_;  // in a row
  std::size_t begin_ = 0, end_ = 0, open_begin_ = 0, name_begin_ = 0, sides_begin_ = 0;
  std::size_t last_end_ = 0;  // of the last place
  bool beside_ = false;       // that place was the landmark of an earlier one
  Span row_, locations_span_;
  std::optional<CornerPoint> corner_point_;
};

// The numbers of a short text with nothing else in it, except "bbox:" and the like before them: 100, 200, 300, 400.
std::vector<double> bare_numbers(std::string_view text) {
  constexpr std::size_t kLongest = 160;
  constexpr std::string_view kNames[] = {"bbox",   "box",        "bounding", "boundingbox", "bbox2d",   "the",
                                         "is",     "at",         "point",    "click",       "tap",      "on",
                                         "center", "coordinate", "position", "coordinates", "location", "centre"};
  if (text.size() > kLongest) return {};
  std::vector<double> numbers;
  int open = 0;
  Tokens tokens(text);
  for (Token token = tokens.next(); token.kind != Kind::end; token = tokens.next()) {
    const std::string name = token.kind == Kind::name ? side_name(token.text) : "";
    const bool named = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) && numbers.empty();
    const bool unit = (name == "px" || name == "pixels") && !numbers.empty();
    open += token.kind == Kind::open ? 1 : token.kind == Kind::close ? -1 : 0;
    if (token.kind == Kind::number)
      numbers.push_back(token.number);
    else if (!named && !unit &&
             (token.kind == Kind::name ||
              (token.kind == Kind::other && std::string_view(";:={}.").find(token.text[0]) == std::string_view::npos)))
      return {};
  }
  return open == 0 ? numbers : std::vector<double>();
}

}  // namespace

std::optional<Box> parse_box(std::string_view text) {
  PlaceReader reader(text);
  reader.read();
  if (reader.box) return reader.box;
  const std::vector<double> sides = bare_numbers(text);
  return sides.size() == 4 ? std::optional(box_of(sides[0], sides[1], sides[2], sides[3])) : std::nullopt;
}

std::optional<Box> parse_place(std::string_view text) {
  PlaceReader reader(text);
  reader.read();
  if (reader.place) return reader.place;
  const std::vector<double> sides = bare_numbers(text);
  if (sides.size() == 4) return box_of(sides[0], sides[1], sides[2], sides[3]);
  return sides.size() == 2 ? std::optional(Box{sides[0], sides[1], sides[0], sides[1]}) : std::nullopt;
}

std::string format_box(const Box& box) {
  return fmt::format("[{},{},{},{}]", std::llround(box.x1), std::llround(box.y1), std::llround(box.x2),
                     std::llround(box.y2));
}

}  // namespace agon::env
