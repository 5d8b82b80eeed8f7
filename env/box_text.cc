// Reading boxes and points (env/box.h): a text is parted into tuples of numbers and named numbers, from left to right.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "env/box.h"

namespace agon::env {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

constexpr std::string_view kOpenTags[] = {"<box>",           "<|box_start|>", "<bbox>",  "<point>",       "<points>",
                                          "<|point_start|>", "<|det|>",       "<coord>", "<bounding_box>"};
constexpr std::string_view kCloseTags[] = {"</box>",        "<|box_end|>", "</bbox>",  "</point>",       "</points>",
                                           "<|point_end|>", "<|/det|>",    "</coord>", "</bounding_box>"};

// What of a text counts here.
struct Token {
  enum class Kind { open, close, open_tag, close_tag, comma, number, name, other, end } kind = Kind::end;
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

 private:
  Token take(Kind kind, std::size_t size) {
    const std::string_view text = text_.substr(at_, size);
    at_ += size;
    return {kind, 0, text};
  }
  Token word() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '_')) ++end;
    return take(Kind::name, end - at_);
  }
  // A number that is no coordinate is something else.
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
  std::size_t at_ = 0;
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

// Keeps the last point and the last box while tokens go by.
class PlaceReader {
 public:
  explicit PlaceReader(std::string_view text) : tokens_(text) {}

  void read() {
    for (Token token = tokens_.next(); token.kind != Kind::end; token = tokens_.next()) {
      if (token.kind == Kind::name) {
        named(token);
        continue;
      }
      if (token.kind == Kind::number)
        number(token.number);
      else
        mark(token);
      const bool equals = token.kind == Kind::other && (token.text == ":" || token.text == "=");
      const bool quote = token.kind == Kind::other && (token.text == "\"" || token.text == "'");
      if (!equals && !quote) name_.clear();
    }
    end_points();
  }
  std::optional<Box> box, place;  // the last box; the last of boxes and points

 private:
  void found_box(const Box& found) { box = place = found; }

  void named(const Token& token) {
    close_tuple(false);
    name_ = side_name(token.text.substr(0, 16));
    constexpr std::string_view kBetween[] = {"and",   "to",     "top",     "bottom",      "left",     "right", "upper",
                                             "lower", "corner", "is",      "at",          "the",      "x1",    "y1",
                                             "x2",    "y2",     "topleft", "bottomright", "starting", "ending"};
    if (std::find(std::begin(kBetween), std::end(kBetween), name_) == std::end(kBetween)) end_points();
  }

  void number(double value) {
    if (!name_.empty() && !open_) {
      side(value);
      return;
    }
    // Numbers of a tuple are parted by commas, those between tags by anything.
    if (open_ && (values_.empty() || comma_ || tagged_) && values_.size() < 9)
      values_.push_back(value);
    else
      close_tuple(false);
    comma_ = false;
  }

  void mark(const Token& token) {
    switch (token.kind) {
      case Kind::open:
      case Kind::open_tag:
        close_tuple(false);
        if (token.kind == Kind::open_tag) end_points();
        open_ = true;
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
        close_tuple(false);
        if (token.text != "-") end_points();
    }
  }

  // Ends the tuple that is open; `whole`: by its bracket, so that it counts.
  void close_tuple(bool whole) {
    if (whole && open_ && values_.size() == 4) {
      end_points();
      found_box(box_of(values_[0], values_[1], values_[2], values_[3]));
    } else if (whole && open_ && values_.size() == 2) {
      add_point(values_[0], values_[1]);
    }
    open_ = tagged_ = comma_ = false;
    values_.clear();
  }

  void add_point(double x, double y) {
    if (points_.size() == 4) points_.erase(points_.begin(), points_.begin() + 2);
    points_.push_back({x, y});
  }
  // Points in a row: two are corners, four an upright rectangle or two boxes of which the last counts.
  void end_points() {
    const std::size_t count = points_.size();
    if (count == 0) return;
    const auto last = points_.back();
    if (count == 4 && is_rectangle())
      found_box(box_of(points_[0][0], points_[0][1], points_[2][0], points_[2][1]));
    else if (count % 2 == 0)
      found_box(box_of(points_[count - 2][0], points_[count - 2][1], last[0], last[1]));
    else
      place = Box{last[0], last[1], last[0], last[1]};
    points_.clear();
  }
  bool is_rectangle() const {
    const auto same = [&](std::size_t a, std::size_t b, std::size_t axis) {
      return points_[a][axis] == points_[b][axis];
    };
    return (same(0, 1, 1) && same(1, 2, 0) && same(2, 3, 1) && same(3, 0, 0)) ||
           (same(0, 1, 0) && same(1, 2, 1) && same(2, 3, 0) && same(3, 0, 1));
  }

  // A named number: the last of each name counts; four of one box, or x and y, in any order.
  void side(double value) {
    const std::string name = name_;
    name_.clear();
    if (name.size() > 8) return sides_.clear();
    std::erase_if(sides_, [&](const auto& known) { return known.first == name; });
    if (sides_.size() == 8) sides_.erase(sides_.begin());
    sides_.emplace_back(name, value);
    for (const Sides& sides : kSides)
      if (const auto found = box_with(sides)) {
        found_box(*found);
        sides_.clear();
        return;
      }
    const auto x = side_called("x"), y = side_called("y");
    if (x && y) place = Box{*x, *y, *x, *y};
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

  Tokens tokens_;
  bool open_ = false, tagged_ = false, comma_ = false;
  std::vector<double> values_;                 // of the open tuple
  std::vector<std::array<double, 2>> points_;  // in a row
  std::string name_;                           // before "=" or ":"
  std::vector<std::pair<std::string, double>> sides_;
};

}  // namespace

std::optional<Box> parse_box(std::string_view text) {
  PlaceReader reader(text);
  reader.read();
  return reader.box;
}

std::optional<Box> parse_place(std::string_view text) {
  PlaceReader reader(text);
  reader.read();
  return reader.place;
}

}  // namespace agon::env
