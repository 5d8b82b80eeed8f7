#include "env/grading/gui_action.h"

#include <catch2/catch.hpp>

#include "core/rng.h"

using namespace agon;
using namespace agon::env;
using Type = GuiActionType;

namespace {

GuiAction click(double x, double y) { return {Type::click, x, y}; }
GuiAction typed(std::string text) { return {Type::type, 0, 0, Direction::up, std::move(text)}; }

}  // namespace

TEST_CASE("GUI actions are read as OS-Atlas writes them") {
  CHECK(parse_gui_action("CLICK <point>[[493,544]]</point>") == click(493, 544));
  CHECK(parse_gui_action("  CLICK<point>[[ 1.5 , 2 ]]</point>\n") == click(1.5, 2));
  CHECK(parse_gui_action("<answer> PRESS_HOME </answer>") == GuiAction{Type::press_home});
  CHECK(parse_gui_action("LONG_PRESS <point>[[0,1000]]</point>") == GuiAction{Type::long_press, 0, 1000});
  CHECK(parse_gui_action("SCROLL [DOWN]") == GuiAction{Type::scroll, 0, 0, Direction::down});
  CHECK(parse_gui_action("SCROLL [ LEFT ]") == GuiAction{Type::scroll, 0, 0, Direction::left});
  CHECK(parse_gui_action("TYPE [hello [big] world]") == typed("hello [big] world"));
  CHECK(parse_gui_action("TYPE []") == typed(""));
  CHECK(parse_gui_action("TYPE [ spaced ]") == typed(" spaced "));
  CHECK(parse_gui_action("OPEN_APP [Clock]") == GuiAction{Type::open_app, 0, 0, Direction::up, "Clock"});
  for (const auto& [text, type] : {std::pair{"PRESS_BACK", Type::press_back},
                                   {"WAIT", Type::wait},
                                   {"COMPLETE", Type::complete},
                                   {"IMPOSSIBLE", Type::impossible}})
    CHECK(parse_gui_action(text) == GuiAction{type});
}

TEST_CASE("anything else is no action") {
  for (const char* text : {"",
                           " ",
                           "click <point>[[1,2]]</point>",
                           "CLICK",
                           "CLICK [[1,2]]",
                           "CLICK <point>[1,2]</point>",
                           "CLICK <point>[[1]]</point>",
                           "CLICK <point>[[1,2,3]]</point>",
                           "CLICK <point>[[a,b]]</point>",
                           "CLICK <point>[[nan,2]]</point>",
                           "CLICK <point>[[1e99,2]]</point>",
                           "CLICK <point>[[1,2]]</point> WAIT",
                           "SCROLL",
                           "SCROLL [SIDEWAYS]",
                           "SCROLL UP",
                           "TYPE hello",
                           "TYPE [hello",
                           "TYPE [hello] now",
                           "WAIT [5]",
                           "WAIT WAIT",
                           "DANCE",
                           "I will WAIT",
                           "<answer>WAIT"}) {
    INFO(text);
    CHECK_FALSE(parse_gui_action(text));
  }
}

TEST_CASE("a written action reads back") {
  Rng rng(3);
  const std::string letters = "ab [](),<>/\n\"é";
  for (int i = 0; i < 500; ++i) {
    GuiAction action;
    action.type = static_cast<Type>(rng.between(0, 9));
    if (action.type == Type::click || action.type == Type::long_press) {
      action.x = rng.between(0, 1000);
      action.y = rng.between(0, 1000);
    }
    if (action.type == Type::scroll) action.direction = static_cast<Direction>(rng.between(0, 3));
    if (action.type == Type::type || action.type == Type::open_app)
      for (int n = rng.between(0, 12); n > 0; --n)
        action.text += letters[std::size_t(rng.between(0, int(letters.size()) - 1))];
    INFO(format_gui_action(action));
    CHECK(parse_gui_action(format_gui_action(action)) == action);
    CHECK(parse_gui_action("<answer>" + format_gui_action(action) + "</answer>") == action);
  }
}

TEST_CASE("random bytes never throw") {
  Rng rng(4);
  const std::vector<std::string> pieces = {
      "CLICK",    "TYPE",      "SCROLL", " ",     "[", "]",   "<point>", "</point>",
      "<answer>", "</answer>", ",",      "1e309", "-", "500", "\xff",    std::string(1, '\0'),
      "UP"};
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (int n = rng.between(0, 12); n > 0; --n) text += rng.pick(pieces);
    if (const auto action = parse_gui_action(text)) CHECK(parse_gui_action(format_gui_action(*action)));
  }
}

TEST_CASE("step match: type, grounding by distance, arguments") {
  const GuiMatch same = match_gui_action(click(500, 500), click(500, 500));
  CHECK((same.type && same.success && same.grounding == true));
  CHECK(match_gui_action(click(500, 640), click(500, 500)).success);  // exactly 14 %
  CHECK_FALSE(match_gui_action(click(500, 641), click(500, 500)).success);
  CHECK(match_gui_action(click(500, 641), click(500, 500)).grounding == false);
  CHECK(match_gui_action(click(500, 641), click(500, 500)).type);
  CHECK_FALSE(match_gui_action(click(600, 600), click(500, 500)).success);  // 141 along the diagonal
  CHECK(match_gui_action(click(500, 540), click(500, 500), 0.04).success);
  CHECK_FALSE(match_gui_action(click(500, 541), click(500, 500), 0.04).success);

  const GuiMatch other = match_gui_action({Type::wait}, click(500, 500));
  CHECK_FALSE((other.type || other.success || other.grounding));
  const GuiMatch pressed = match_gui_action({Type::long_press, 1, 1}, {Type::long_press, 2, 2});
  CHECK((pressed.success && !pressed.grounding));  // grounding is only for clicks
  CHECK(match_gui_action({Type::complete}, {Type::complete}).success);
  CHECK(match_gui_action({Type::scroll, 0, 0, Direction::up}, {Type::scroll, 0, 0, Direction::down}).type);
  CHECK_FALSE(match_gui_action({Type::scroll, 0, 0, Direction::up}, {Type::scroll, 0, 0, Direction::down}).success);

  CHECK(match_gui_action(typed(""), typed("")).success);
  CHECK(match_gui_action(typed("Good Morning all"), typed("good morning")).success);    // F1 0.8
  CHECK_FALSE(match_gui_action(typed("good day sir"), typed("good morning")).success);  // F1 0.4
  CHECK_FALSE(match_gui_action(typed("good x x y"), typed("good z")).success);          // sets: 2/(3+2) = 0.4
  CHECK_FALSE(match_gui_action(typed("a b"), typed("a c")).success);                    // F1 0.5 is not enough
}
