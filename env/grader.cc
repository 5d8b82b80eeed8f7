#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "env/box.h"
#include "env/grade.h"
#include "env/gui_action.h"

namespace agon::env {
namespace {

using Grade = std::function<double(std::string_view)>;
using Options = std::vector<std::string>;

[[noreturn]] void throw_bad_gold(const std::string& grader, const Json& gold, const std::string& wanted) {
  throw Error("grader {}: the gold answer {} is not {}.", grader,
              gold.dump(-1, ' ', false, Json::error_handler_t::replace), wanted);
}

// The gold answers as texts: a string, a number, or several.
std::vector<std::string> gold_texts(const std::string& grader, const Json& gold) {
  const Json several = gold.is_array() ? gold : Json::array({gold});
  std::vector<std::string> texts;
  for (const Json& one : several) {
    if (!one.is_string() && !one.is_number()) throw_bad_gold(grader, gold, "a text, a number or a list of them");
    texts.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  if (texts.empty()) throw_bad_gold(grader, gold, "a text, a number or a list of them");
  return texts;
}

template <typename Rule>
Grade best_of(std::vector<std::string> golds, Rule rule) {
  return [golds = std::move(golds), rule](std::string_view answer) {
    double best = 0;
    for (const std::string& gold : golds) best = std::max(best, static_cast<double>(rule(answer, gold)));
    return best;
  };
}

template <auto rule>
Grade text_grade(const std::string& grader, const Json& gold, const Options&) {
  return best_of(gold_texts(grader, gold),
                 [](std::string_view answer, std::string_view wanted) { return rule(answer, wanted); });
}

Grade number_grade(const std::string& grader, const Json& gold, const Options&) {
  std::vector<std::string> golds = gold_texts(grader, gold);
  for (const std::string& text : golds)
    if (!parse_number(text)) throw_bad_gold(grader, gold, "a number");
  return best_of(std::move(golds),
                 [](std::string_view answer, std::string_view wanted) { return number_match(answer, wanted); });
}

Grade choice_grade(const std::string& grader, const Json& gold, const Options& options) {
  if (options.empty()) throw Error("grader {}: needs \"options\", the texts of the choices.", grader);
  const auto letter = gold.is_string() ? parse_choice(gold.get<std::string>(), options) : std::nullopt;
  if (!letter) throw_bad_gold(grader, gold, fmt::format("one of the {} options, by letter or text", options.size()));
  return [letter, options](std::string_view answer) { return parse_choice(answer, options) == letter; };
}

Box gold_box(const std::string& grader, const Json& gold) {
  const auto box =
      parse_box(gold.is_string() ? gold.get<std::string>() : gold.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!box || box->area() <= 0) throw_bad_gold(grader, gold, "a box [x1,y1,x2,y2] with an area");
  return *box;
}

template <double (*overlap)(const Box&, const Box&)>
Grade box_grade(const std::string& grader, const Json& gold, const Options&) {
  return [box = gold_box(grader, gold)](std::string_view answer) {
    const auto predicted = parse_box(answer);
    return predicted ? std::clamp(overlap(*predicted, box), 0.0, 1.0) : 0;
  };
}

// "[x,y]" or "(x,y)" is read as a box without extent.
std::optional<Box> parse_point(std::string_view answer) {
  if (const auto action = parse_gui_action(answer); action && action->type == GuiActionType::click)
    return Box{action->x, action->y, action->x, action->y};
  if (const auto box = parse_box(answer)) return box;
  const std::size_t begin = answer.find_first_of("[("), end = answer.find_first_of("])", begin);
  if (begin == answer.npos || end == answer.npos) return {};
  const std::string inside(answer.substr(begin + 1, end - begin - 1));
  return parse_box("[" + inside + "," + inside + "]");
}

Grade point_grade(const std::string& grader, const Json& gold, const Options&) {
  return [box = gold_box(grader, gold)](std::string_view answer) {
    const auto point = parse_point(answer);
    return point && contains(box, (point->x1 + point->x2) / 2, (point->y1 + point->y2) / 2);
  };
}

Grade gui_grade(const std::string& grader, const Json& gold, const Options&) {
  const auto action = gold.is_string() ? parse_gui_action(gold.get<std::string>()) : std::nullopt;
  if (!action) throw_bad_gold(grader, gold, "an action such as CLICK <point>[[x,y]]</point>");
  return [wanted = *action](std::string_view answer) {
    const auto predicted = parse_gui_action(answer);
    return predicted && match_gui_action(*predicted, wanted).success;
  };
}

double set_f1(std::string_view answer, std::string_view gold) { return token_f1(answer, gold, Overlap::set); }
double multiset_f1(std::string_view answer, std::string_view gold) { return token_f1(answer, gold, Overlap::multiset); }

struct Entry {
  const char* name;
  Grade (*make)(const std::string& grader, const Json& gold, const Options& options);
  double threshold = 1;
  bool strict = false;
};
constexpr Entry kGraders[] = {
    {"exact", text_grade<exact_match>},
    {"normalized", text_grade<normalized_match>},
    {"number", number_grade},
    {"choice", choice_grade},
    {"f1", text_grade<set_f1>, 0.5},
    {"f1_multiset", text_grade<multiset_f1>, 0.5},
    {"iou", box_grade<iou>, 0.5, true},
    {"giou", box_grade<giou>, 0.5, true},
    {"ciou", box_grade<ciou>, 0.5, true},
    {"point_in_box", point_grade},
    {"gui_step", gui_grade},
};

}  // namespace

Grader::Grader(const std::string& name, const Json& gold, const std::vector<std::string>& options) {
  const auto entry =
      std::find_if(std::begin(kGraders), std::end(kGraders), [&](const Entry& e) { return name == e.name; });
  if (entry == std::end(kGraders)) throw Error("{}", unknown_name_message("grader", name, names()));
  grade_ = entry->make(name, gold, options);
  threshold_ = entry->threshold;
  strict_ = entry->strict;
}

bool Grader::correct(double reward) const { return strict_ ? reward > threshold_ : reward >= threshold_; }

std::vector<std::string> Grader::names() {
  std::vector<std::string> names;
  for (const Entry& entry : kGraders) names.emplace_back(entry.name);
  return names;
}

}  // namespace agon::env
