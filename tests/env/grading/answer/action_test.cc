// Actions as models write them. Each row: a grader, the responses that are right, and those that are wrong.
#include <catch2/catch.hpp>

#include "env/grading/grader.h"
#include "graded_responses.h"

using namespace agon;
using namespace agon::env;
using namespace agon::test;

TEST_CASE("actions in the forms of other agents") {
  check({"gui_step", "CLICK <point>[[500,300]]</point>"},
        {"{'action': 'CLICK', 'value': None, 'position': [500, 300]}", "{'action': 'tap', 'position': (500, 300)}",
         "do(action=\"Tap\", element=[500,300])", "mobile_use(action='click', coordinate=[500, 300])",
         R"({"Thought":"x","Action":"CLICK","Coordinate":[500,300]})",
         R"({"actions":[{"action":"click","coordinate":[500,300]}]})", R"x({"action": "click(500, 300)"})x",
         R"x({"function_call":{"name":"click","arguments":"{\"x\":500,\"y\":300}"}})x",
         "<function=click>\n<parameter=x>500</parameter>\n<parameter=y>300</parameter>\n</function>",
         "Action: CLICK\nPoint: (500, 300)", R"({"type":"click","x":500,"y":300,"button":"left"})"},
        {R"({"type":"click","x":500,"y":300,"button":"right"})", "click(x=500, y=300, button='right')",
         R"({"type":"click","x":500,"y":300,"button":"middle"})", "click(500,300); press_back()",
         "CLICK <point>[[500,300]]</point> TYPE [x]",
         R"({"actions":[{"action":"click","coordinate":[500,300]},{"action":"press_back"}]})"});
  check({"gui_step", "TYPE [hello world]"},
        {"do(action=\"Type\", text=\"hello world\")", "Action: TYPE\nText: hello world"}, {});
  check({"gui_step", "PRESS_BACK"}, {"do(action=\"Back\")"}, {"do(action=\"Home\")"});
  check({"gui_step", "OPEN_APP [Clock]"}, {"do(action=\"Launch\", app=\"Clock\")"}, {});
  check({"gui_step", "WAIT"}, {"do(action=\"Wait\", duration=\"2 seconds\")"}, {});
  check({"gui_step", "TYPE [Action: x]"}, {"Thought: type.\nAction: TYPE [Action: x]"}, {});
  check({"gui_step", "SCROLL [DOWN]"},
        {R"({"type":"scroll","x":500,"y":500,"scroll_x":0,"scroll_y":300})", "action: scroll\ndirection: down"},
        {R"({"type":"scroll","x":500,"y":500,"scroll_x":0,"scroll_y":-300})"});
}

TEST_CASE("corners in a sentence, actions with reasons beside them") {
  const Responses corners = {
      "The top-left corner is (100, 200) and the bottom-right corner is (300, 400).",
      "- **Top-left corner**: (x1, y1) = (100, 200)\n- **Bottom-right corner**: (x2, y2) = (300, 400)",
      "{\"top_left\": [100, 200], \"bottom_right\": [300, 400]}"};
  check({"iou", {100, 200, 300, 400}}, corners, {"The corner is (100, 200), and the cat is near (300, 400)."});
  check({"point_in_box", {150, 250, 250, 350}}, corners, {});
  check({"gui_step", "CLICK <point>[[500,300]]</point>"},
        {R"x({"action": "click", "coordinate": [500, 300], "thought": "not the one at (20, 30)"})x",
         "<answer>[{'action': 'click', 'point': [500, 300], 'input_text': 'it\\'s \"no\" text'}]</answer>",
         R"x({"thought":"so","POINT":[500,300]})x", "<action>click(500,300)</action>"},
        {R"x({"action": "click", "coordinate": [20, 30], "thought": "not the one at (500, 300)"})x"});
  check({"gui_step", "PRESS_HOME"},
        {R"x({"thought": "I go back to the home screen", "action": "system_button", "button": "Home"})x",
         R"x({"PRESS":"HOME"})x"},
        {R"x({"thought": "home", "action": "system_button", "button": "Back"})x"});
  check({"gui_step", "SCROLL [DOWN]"},
        {R"x({"thought": "scroll up did nothing", "action": "scroll", "direction": "down"})x"}, {});
  check({"gui_step", "COMPLETE"},
        {R"x({"thought": "The first try failed", "action": "terminate", "status": "success"})x",
         R"x({"STATUS":"finish"})x"},
        {R"x({"action": "terminate", "status": "failure"})x"});
  check({"gui_step", "TYPE [hello]"}, {"type(start_box='(100,200)', content='hello')", R"x({"TYPE": "hello"})x"}, {});
  check({"gui_step", "TYPE [Best action: comedies]"}, {"Action: type(content='Best action: comedies')"}, {});
  check({"gui_step", "PRESS_BACK"},
        {"PRESS_BACK.", "Thought: I don't see it (yet). Action: press_back()",
         "Action: type(content='so')\nAction: press_back()"},
        {"Action: type(content='action: press_back()')"});
}

TEST_CASE("actions as models write them") {
  check(Grader("gui_step", "CLICK <point>[[500,300]]</point>"),
        {"CLICK <point>[[500,300]]</point>", "CLICK [[500, 300]]", "CLICK (500,300)", "CLICK: (500, 300)",
         "Thought: I should tap it.\nAction: click(start_box='(500,300)')",
         "thoughts:\nTap it.\nactions:\nCLICK <point>[[510,300]]</point>",
         "Action: click(point='<point>500 300</point>')", "pyautogui.click(x=500, y=300)", "tap(500, 300)",
         "{\"action_type\": \"click\", \"x\": 500, \"y\": 300}", "<answer>click(500,300)</answer>",
         "<tool_call>\n{\"name\": \"mobile_use\", \"arguments\": {\"action\": \"click\", \"coordinate\": [500, "
         "300]}}\n</tool_call>",
         "click(start_box='[450,250,550,350]')", "**Action:** click(start_box='(500,300)')"},
        {"CLICK <point>[[700,300]]</point>", "long_press(500,300)", "wait()", "", "I will click",
         "scroll(direction='down')"});
  check(Grader("gui_step", "SCROLL [DOWN]"),
        {"SCROLL [DOWN]", "SCROLL: DOWN", "scroll(direction='down')", "scroll(start_box='(1,2)', direction='down')",
         "Action: scroll down", "{\"action\": \"scroll\", \"direction\": \"down\"}"},
        {"SCROLL [UP]", "scroll(direction='up')", "scroll(direction='sideways')"});
  check(Grader("gui_step", "TYPE [hello world]"),
        {"TYPE [hello world]", "type(content='hello world')", "type(text=\"hello world\")", "TYPE: hello world",
         "{\"action\": \"type\", \"text\": \"hello world\"}", "Action: type(content='hello world\\n')",
         "input_text(text='Hello World')", "type('hello world', 'enter')", "type(\"hello world\", interval=0.1)",
         "type(content='hello world', start_box='(1,2)')", "type('hello world' , 'it\\'s')"},
        {"TYPE [goodbye]", "type()", "open_app(app_name='hello world')"});
  check(Grader("gui_step", "TYPE [it's 5 o'clock, or so]"), {"type('it's 5 o'clock, or so')"}, {"type('it')"});
  check(Grader("gui_step", "OPEN_APP [Clock]"), {"open_app(app_name='Clock')", "open_app('Clock')", "OPEN_APP [clock]"},
        {"OPEN_APP [Maps]"});
  check(Grader("gui_step", "PRESS_BACK"),
        {"press_back()", "PRESS_BACK", "navigate_back()", "press_key(key='back')", "system_button(button=\"Back\")"},
        {"press_home()", "back"});
  check(Grader("gui_step", "COMPLETE"),
        {"COMPLETE", "finished(content='done')", "terminate(status='success')",
         "{\"action\": \"terminate\", \"status\": \"success\"}"},
        {"IMPOSSIBLE", "terminate(status='failure')"});
  check(Grader("gui_step", "WAIT"), {"WAIT", "wait()", "wait(2)"}, {"wait", "I will wait"});
}
