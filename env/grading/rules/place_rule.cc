#include "env/grading/rules/place_rule.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "env/grading/answer/phrases.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/answer/reason.h"
#include "env/grading/box_text.h"
#include "env/grading/place_refused.h"
#include "env/grading/place_said.h"

namespace agon::env {
namespace {

std::string shown_place(const Box& box) {
  if (box.x1 == box.x2 && box.y1 == box.y2) return fmt::format("({:g},{:g})", box.x1, box.y1);
  return fmt::format("[{:g},{:g},{:g},{:g}]", box.x1, box.y1, box.x2, box.y2);
}

Box scaled(const Box& box, std::pair<double, double> by) {
  return {box.x1 * by.first, box.y1 * by.second, box.x2 * by.first, box.y2 * by.second};
}

class PlaceRule : public AnswerRule {
 public:
  void take_gold(const Json& gold) override {
    const auto box = parse_box(plain_text(text_of(gold)));
    if (!box || box->area() <= 0) throw_bad_gold(gold, "a box [x1,y1,x2,y2] with an area");
    check_scale(gold, *box);
    gold_ = *box;
  }
  AnswerReading read(const AnswerPart& part) const override {
    const std::string said = without_coordinate_frame(without_refusals(part.text));
    std::optional<Box> place;
    for (const Phrase& phrase : answer_phrases(said))
      for (const std::string_view text :
           {own_part(phrase.sentence), std::string_view(phrase.sentence), std::string_view(phrase.value)})
        if (!place) place = parse(text);
    if (!place) place = parse(without_asides(said));
    if (!place) place = parse(said);
    if (!place) return not_read(fmt::format("no {} in {}", what(), shown_answer(part.text)));
    AnswerReading reading;
    reading.place = scaled(*place, growth_of_response());
    reading.shown = shown_place(*place);
    return reading;
  }

 protected:
  virtual std::optional<Box> parse(std::string_view text) const = 0;
  virtual const char* what() const = 0;
  const Box& gold() const { return gold_; }

 private:
  // The part of a phrase before it turns to other places.
  static std::string_view own_part(std::string_view sentence) {
    return before_reason(sentence.substr(0, std::min(sentence.find(", and "), sentence.find(" while "))));
  }
  std::pair<double, double> growth_of_response() const {
    if (!options.response_coordinates) return {1, 1};
    return growth(*options.response_coordinates, *options.coordinates, options.size);
  }
  void check_scale(const Json& gold, const Box& box) const {
    if (!options.coordinates || (*options.coordinates == Coordinates::pixels && !options.size)) return;
    const auto [width, height] = extent(*options.coordinates, options.size);
    if (box.x1 < 0 || box.y1 < 0 || box.x2 > width || box.y2 > height)
      throw_bad_gold(
          gold, fmt::format("inside the picture, whose sides are {:g} and {:g} in these coordinates", width, height));
  }
  Box gold_;
};

template <double (*overlap)(const Box&, const Box&)>
class OverlapRule final : public PlaceRule {
 public:
  RuleScore compare(const AnswerReading& answer) const override {
    const double reward = std::clamp(overlap(answer.place, gold()), 0.0, 1.0);
    return {reward, fmt::format("{} overlaps {} by {:.3f}", answer.shown, shown_place(gold()), reward)};
  }
  bool same(const AnswerReading& a, const AnswerReading& b) const override { return iou(a.place, b.place) > 0.5; }
  std::string description() const override { return "the overlap of the two boxes; right from 0.5 on"; }

 protected:
  std::optional<Box> parse(std::string_view text) const override { return parse_box(text); }
  const char* what() const override { return "box"; }
};

class PointRule final : public PlaceRule {
 public:
  RuleScore compare(const AnswerReading& answer) const override {
    const auto [x, y] = centre(answer.place);
    const bool inside = contains(gold(), x, y);
    return {inside ? 1.0 : 0.0,
            fmt::format("({:g},{:g}) is {} {}", x, y, inside ? "inside" : "outside", shown_place(gold()))};
  }
  bool same(const AnswerReading& a, const AnswerReading& b) const override {
    return centre(a.place) == centre(b.place);
  }
  std::string description() const override {
    return "the point, or the centre of the box answered, is in the gold box";
  }

 protected:
  std::optional<Box> parse(std::string_view text) const override { return parse_place(text); }
  const char* what() const override { return "point"; }

 private:
  static std::pair<double, double> centre(const Box& box) { return {(box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2}; }
};

}  // namespace

std::unique_ptr<AnswerRule> make_iou_rule() { return std::make_unique<OverlapRule<iou>>(); }
std::unique_ptr<AnswerRule> make_giou_rule() { return std::make_unique<OverlapRule<giou>>(); }
std::unique_ptr<AnswerRule> make_ciou_rule() { return std::make_unique<OverlapRule<ciou>>(); }
std::unique_ptr<AnswerRule> make_point_rule() { return std::make_unique<PointRule>(); }

}  // namespace agon::env
