// Places and actions as models write them, by kind: denied ones, ones next to the answer, and texts that are neither.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cpu_time.h"
#include "env/grading/grader.h"

using namespace agon;
using namespace agon::env;

namespace {

using Responses = std::vector<std::string>;

struct Kind {
  const char* name;
  Responses right, wrong;
};

void check_places(const Grader& grader, const std::vector<Kind>& kinds) {
  for (const Kind& kind : kinds) {
    for (const std::string& response : kind.right) {
      INFO(kind.name << ": " << response);
      CHECK(grader.grade(response) == 1);
    }
    for (const std::string& response : kind.wrong) {
      INFO(kind.name << ": " << response);
      CHECK(grader.grade(response) == 0);
    }
  }
}

}  // namespace

TEST_CASE("points that are denied, or that a text gives for something else") {
  check_places(
      {"point_in_box", {100, 200, 300, 400}},
      {{"denied before",
        {"The button isn't at (600, 700), it's at (200, 300).", "Don't click (600, 700); click (200, 300).",
         "The cup that is not blue is at (200, 300).", "Click the \"Don't allow\" button at (200, 300).",
         "Tap on Not now at (200, 300).", "The button with no border is at (200, 300).",
         "It is not only red; it is at (200, 300).", "没有边框的按钮位于(200,300)。"},
        {"The button isn't at (200, 300).", "Don't click at (200, 300).", "Never tap (200, 300).",
         "I would not click (200, 300).", "There is no button at (200, 300).", "不要点击(200,300)。",
         "目标不在(200, 300)。", "I don't think the button is at (200, 300).", "Avoid clicking (200, 300).",
         "The button is not at x=200, y=300.", "No button is at (200, 300)."}},
       {"denied behind",
        {"(200, 300) is not far off.", "The dog at (200, 300) is not looking at us.", "(200, 300), not (600, 700)"},
        {"(200, 300) is wrong.", "(200, 300) is not the button.", "The point (200, 300) is not correct.",
         "(200, 300)不是目标。", "Clicking (200, 300) would be wrong.", "It's (200, 300), which is wrong.",
         "I first thought of (200, 300), but that is wrong.", "<point>200 300</point> is not the target."}},
       {"beside another",
        {"Click (200, 300), above the icon at (600, 700).", "The icon is at (200, 300). It is below the bar at (6, 7).",
         "The cat is at (600, 700), and the dog next to it is at (200, 300).",
         "The cat is at (600, 700). Below the cat is the dog at (200, 300)."},
        {"Click (600, 700), above the icon at (200, 300).", "The icon (6, 7) is below the bar at (200, 300)."}},
       {"sizes",
        {"The image size is (1000, 1000). The button is at (200, 300).", "The small-size button is at (200, 300)."},
        {"The image size is (200, 300).", "Resolution: (200, 300)"}},
       {"refused",
        {"I can't see it well, but it is at (200, 300).", "I cannot find an exact match. (200, 300) is closest.",
         "The button is not visible at first. However, it is at (200, 300).", "无法看清,但它应该在(200,300)。",
         "(200, 300)\nI cannot see anything else."},
        {"The image size is (200, 300). I cannot find the button.", "Target not found. Screen center: (200, 300).",
         "The search icon is not visible; (200, 300) is the menu.", "无法找到目标。(200,300)是菜单。",
         "I cannot find a dog. However, there is a cat at (200, 300)."}},
       {"labels",
        {"<point x=\"200\" y=\"300\" alt=\"the cup at (70, 80)\">the cup at (70, 80)</point>"},
        {"<point x=\"600\" y=\"700\" alt=\"the cup at (200, 300)\">the cup at (200, 300)</point>"}}});
}

TEST_CASE("boxes beside others, corners in words, Florence's places") {
  check_places(
      {"iou", {100, 200, 300, 400}},
      {{"denied", {}, {"[100, 200, 300, 400] is not correct.", "None of the boxes [100, 200, 300, 400] hold a dog."}},
       {"beside another",
        {"The dog is at [100, 200, 300, 400], to the left of the cat at [500, 600, 700, 800].",
         "The dog is at [100, 200, 300, 400], next to the cat ([500, 600, 700, 800]).",
         "The dog is at [100,200,300,400], between the cat at [1,2,3,4] and the bird at [5,6,7,8].",
         "The cat is at [500, 600, 700, 800]. The dog, which you asked for, is at [100, 200, 300, 400].",
         "狗在[100,200,300,400],位于猫[500,600,700,800]的左侧。",
         "The dog is at [100,200,300,400], not near the cat [500,600,700,800]."},
        {"The cat is at [500, 600, 700, 800], to the left of the dog at [100, 200, 300, 400].",
         "The dog, which is at [500, 600, 700, 800], is near the cat."}},
       {"reasons in JSON",
        {R"({"bbox": [100, 200, 300, 400], "reasoning": "The cat is at [500, 600, 700, 800]."})",
         R"({"bbox": [100, 200, 300, 400], "note": "I can't see the cat at [5, 6, 7, 8]."})"},
        {R"({"bbox": [500, 600, 700, 800], "rationale": "The dog is at [100, 200, 300, 400]."})"}},
       {"corners",
        {"The box starts at (100, 200) and ends at (300, 400).",
         "It spans from (100,200) in the top left to (300,400) in the bottom right.",
         "左上角坐标为(100,200),右下角坐标为(300,400)。", "左上角(100, 200),右下角(300, 400)",
         "The dog has its top-left corner at [100, 200] and its bottom-right corner at [300, 400].",
         "The top-left corner is at (100, 200). The bottom-right corner is at (300, 400).",
         "(100, 200) is the top-left corner and (300, 400) is the bottom-right corner.",
         "Top-left corner: x=100, y=200; bottom-right corner: x=300, y=400",
         "Bottom-right corner (300, 400), top-left corner (100, 200).",
         "Its top-right corner is at (300, 200) and its bottom-left corner is at (100, 400)."},
        {"The icon in the top-left corner is at (100, 200) and the one in the bottom-right corner at (300, 400).",
         "(100, 200) or (300, 400)"}},
       {"Florence", {"dog<loc_100><loc_200><loc_300><loc_400>"}, {"<loc_100><loc_200><loc_300>", "<loc_100>"}},
       {"refused",
        {"I can't see the dog clearly. The dog is at [100, 200, 300, 400].", "Answer: [100, 200, 300, 400]\nNo cat."},
        {"I'm sorry, I can't locate the dog. As an example of the format: [100, 200, 300, 400].",
         "No dog. The only object is a cat at [100, 200, 300, 400].",
         "[100, 200, 300, 400] would be the cat. There is no dog."}}});
}

TEST_CASE("actions of CogAgent and behind labels, and what is no action now") {
  check_places(
      {"gui_step", "CLICK <point>[[200,300]]</point>"},
      {{"labels",
        {"Action: Tap the bar.\nGrounded Operation: CLICK(box=[[195,300,215,320]], element_info='Search')",
         "Step 3: click(205, 310)", "Action 1: click(205, 310)", "动作:CLICK <point>[[205,310]]</point>",
         "操作:click(205, 310)", "Previous action: wait()\nNext action: click(205, 310)"},
        {"Previous action: click(200, 300)", "上一步操作:click(200, 300)", "Available actions:\nclick(200, 300)",
         "I cannot. Available actions: click(start_box='(200,300)'), wait(), press_back()."}},
       {"two calls",
        {"click(200, 300) to go back", "click(x=200, y=300)  # the (first) button"},
        {"click(200, 300) or press_back()", "click(200, 300), press_back()", "click(200, 300) and then wait()",
         "CLICK <point>[[200,300]]</point> or PRESS_BACK"}},
       {"denied", {}, {"click(200, 300) is wrong.", "Don't click(200, 300)."}}});
  check_places({"gui_step", "SCROLL [DOWN]"}, {{"names",
                                                {"SCROLL_DOWN(box=[[0,100,999,900]], step_count=5)", "scroll_down()"},
                                                {"scroll_up()", "scroll_down"}}});
  check_places({"gui_step", "TYPE [pizza]"},
               {{"CogAgent", {"Grounded Operation: TYPE(box=[[1,1,3,4]], element_text='Search', text='pizza')"}, {}}});
  check_places({"gui_step", "COMPLETE"}, {{"names", {"END()", "Action: DONE"}, {"done", "the end"}}});
  check_places({"gui_step", "PRESS_BACK"}, {{"names", {"Action: BACK", "动作:PRESS_BACK"}, {"back", "Action: HOME"}}});
  check_places({"gui_step", "OPEN_APP [Clock]"},
               {{"names", {"OPEN_APP Clock", "open_app Clock"}, {"Open Clock", "OPEN_APP"}}});
  check_places({"gui_step", "WAIT"}, {{"AgentCPM-GUI",
                                       {R"({"duration":3000})", R"({"thought":"x","duration":200})"},
                                       {R"({"name":"x","duration":3})"}}});
}

TEST_CASE("time to read places is linear") {
  const std::vector<Grader> graders = {{"iou", {0, 0, 9, 9}}, {"point_in_box", {0, 0, 9, 9}}, {"gui_step", "WAIT"}};
  for (const char* piece : {", which a", ", which a, is (1,2)", "No dog. ", "answer 1. No dog. ", "not (1,2) ",
                            "<loc_1>", "<point x=1>", "top left (1,2) ", "near (1,2) ", "click(1,2) or ",
                            "last action: ", "x=1 ", "Step 1: ", "Available actions:\n", "text=", "\"a ", "' "}) {
    for (const Grader& grader : graders)
      CHECK(agon::test::faster_than_linear(piece, [&](const std::string& text) { (void)grader.grade(text); }) == "");
  }
}

TEST_CASE("boxes: beside another in tags, with the frame of the picture") {
  check_places(
      {"iou", {100, 200, 300, 400}},
      {{"grounded captions",
        {"The boy (bbox: [100, 200, 300, 400]) next to the girl (bbox: [500, 200, 700, 420]).",
         "<ref>The boy</ref><box>[100, 200, 300, 400]</box> next to <ref>the girl</ref><box>[500, 200, 700, "
         "420]</box>",
         "A woman [100, 200, 300, 400] holding an umbrella [500, 200, 700, 420]",
         "The man [100, 200, 300, 400] is sitting on the bench [500, 200, 700, 420]."},
        {"The girl (bbox: [500, 200, 700, 420]) next to the boy (bbox: [100, 200, 300, 400])."}},
       {"how coordinates are counted",
        {"The box is **[100, 200, 300, 400]**, where (0, 0) is the top-left corner of the image and (1000, 800) the "
         "bottom-right.",
         "[100, 200, 300, 400], with (0,0) at the top left and (1000, 1000) at the bottom right."},
        {}}});
}

TEST_CASE("actions: a finger's way scrolls against it, and calls stand in tags") {
  check_places(
      {"gui_step", "SCROLL [DOWN]"},
      {{"swipes",
        {"swipe(500, 800, 500, 300)", "Action: drag(start_box='(500,800)', end_box='(500,200)')",
         "<tool_call>\n{\"name\": \"mobile_use\", \"arguments\": {\"action\": \"swipe\", \"coordinate\": [500, 800], "
         "\"coordinate2\": [500, 300]}}\n</tool_call>",
         "do(action=\"Swipe\", start=[500,800], end=[500,200])", "{\"action\": \"swipe\", \"direction\": \"up\"}",
         "{\"action\": \"swipe\", \"start\": [500, 800], \"end\": [480, 200]}",
         "{\"action\": \"swipe\", \"x1\": 500, \"y1\": 800, \"x2\": 500, \"y2\": 300}",
         "{\"POINT\":[500,500],\"to\":\"up\"}", "{\"POINT\":[500,800],\"to\":[500,200]}", "swipe up"},
        {"swipe(500, 300, 500, 800)", "swipe(800, 500, 200, 500)", "swipe(500, 500)", "swipe(500, 500, 500, 500)",
         "{\"POINT\":[500,500],\"to\":\"down\"}", "swipe down"}}});
  check_places({"gui_step", "SCROLL [RIGHT]"},
               {{"sideways", {"swipe(800, 500, 200, 520)"}, {"swipe(200, 500, 800, 520)"}}});
  check_places({"gui_step", "CLICK <point>[[500,300]]</point>"},
               {{"tags",
                 {"<invoke name=\"computer\">\n<parameter name=\"action\">left_click</parameter>\n<parameter "
                  "name=\"coordinate\">[500, 300]</parameter>\n</invoke>"},
                 {"<invoke name=\"computer\">\n<parameter name=\"action\">right_click</parameter>\n<parameter "
                  "name=\"coordinate\">[500, 300]</parameter>\n</invoke>"}}});
  check_places({"gui_step", "TYPE [See you]"}, {{"AppAgent's", {"Action: text(\"See you\")"}, {"text: \"See you\""}}});
}
