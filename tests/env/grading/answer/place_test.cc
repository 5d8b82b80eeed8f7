// Boxes and points as models write them. Each row: a grader, the responses that are right, and those that are wrong.
#include <catch2/catch.hpp>

#include "env/grading/grader.h"
#include "graded_responses.h"

using namespace agon;
using namespace agon::env;
using namespace agon::test;
using Catch::Contains;

TEST_CASE("boxes as models write them, the last counts") {
  check(Grader("iou", {100, 200, 300, 400}),
        {"[100,200,300,400]",
         "(100,200),(300,400)",
         "[[100,200],[300,400]]",
         "[[100,200,300,400]]",
         "top-left (100,200), bottom-right (300,400)",
         "(100, 200, 300, 400)",
         "<box>(100,200),(300,400)</box>",
         "<box>[[100, 200, 300, 400]]</box>",
         "<box>100 200 300 400</box>",
         "<|object_ref_start|>the cat<|object_ref_end|><|box_start|>(100,200),(300,400)<|box_end|>",
         "{\"bbox_2d\": [100, 200, 300, 400], \"label\": \"cat\"}",
         "```json\n[{\"bbox_2d\": [100, 200, 300, 400]}]\n```",
         "{\"bbox\": {\"x1\": 100, \"y1\": 200, \"x2\": 300, \"y2\": 400}}",
         "{\"xmin\": 100, \"ymin\": 200, \"xmax\": 300, \"ymax\": 400}",
         "{\"left\":100,\"top\":200,\"right\":300,\"bottom\":400}",
         "{\"x\":100,\"y\":200,\"width\":200,\"height\":200}",
         "x1=100, y1=200, x2=300, y2=400",
         "[300,400,100,200]",
         "[[100,200],[300,200],[300,400],[100,400]]",
         "First [1,2,3,4], no: [100,200,300,400]",
         "<answer>[100,200,300,400]</answer>",
         "\\boxed{[100, 200, 300, 400]}",
         "from (100,200) to (300,400)",
         "The answer is [100,200,300,400]. The one at [1,2,3,4] is a dog.",
         "[100,200,300,300]"},
        {"[1,2,3,4]", "[100,200,300,400] or [1,2,3,4]", "", "[100,200,300]", "100,200,300", "[100,200,300,299]",
         "[100,200,nan,400]"});
  CHECK(Grader("iou", {0, 0, 10, 10}).judge("[0,0,10,5]").correct);
  CHECK(Grader("iou", "(0,0),(10,10)").grade("[0,0,10,10]") == 1);
}

TEST_CASE("points as models write them, of a box the centre") {
  check(Grader("point_in_box", {400, 200, 600, 400}),
        {"(500,300)",
         "[500, 300]",
         "<point>[[500,300]]</point>",
         "<point>500 300</point>",
         "click(start_box='(500,300)')",
         "click(start_box='<|box_start|>(500,300)<|box_end|>')",
         "click(point='<point>500 300</point>')",
         "click(x=500, y=300)",
         "pyautogui.click(500, 300)",
         "pyautogui.click(x=500, y=300)",
         "{\"point_2d\": [500, 300]}",
         "{\"action\": \"click\", \"coordinate\": [500, 300]}",
         "{\"x\": 500, \"y\": 300}",
         "x=500, y=300",
         "Thought: It is at (1, 2).\nAction: click(start_box='(500,300)')",
         "CLICK <point>[[500,300]]</point>",
         "<point x=\"500\" y=\"300\" alt=\"cat\">cat</point>",
         "(450,250),(550,350)",
         "[300,100,700,500]",
         "<tool_call>{\"name\": \"computer_use\", \"arguments\": {\"action\": \"left_click\", \"coordinate\": [500, "
         "300]}}</tool_call>",
         "first (1,1), then (500,300)"},
        {"(0,0),(10,10)", "(399,300)", "(401,201),(10,10)", "500,300,1", "", "(500",
         "(500,300) and later (1,1) or so: (2,2)"});
}

TEST_CASE("numbers that are nothing but a box or a point") {
  check({"iou", {100, 200, 300, 400}},
        {"100,200,300,400", "100 200 300 400", "<answer>100, 200, 300, 400</answer>", "\\boxed{100, 200, 300, 400}",
         "bbox: 100, 200, 300, 400", "Bounding box: 100,200,300,400", "The answer is 100, 200, 300, 400.",
         "<|begin_of_box|>100,200,300,400<|end_of_box|>", "[100 200 300 400]", "[100;200;300;400]",
         "[100px, 200px, 300px, 400px]", R"({"bbox":"100,200,300,400"})", R"({"bbox":"100 200 300 400"})",
         R"({"top_left":{"x":100,"y":200},"bottom_right":{"x":300,"y":400}})",
         R"({"start": [100,200], "end": [300,400]})"},
        {"100,200,300,400,500", "I see 100, 200, 300, 400", "There are 100,200,300,400 of them"});
  check({"point_in_box", {400, 250, 600, 350}},
        {"500, 300", "<answer>500, 300</answer>", "<answer>500 300</answer>", "\\boxed{500,300}", "point: 500, 300",
         "Coordinates: 500, 300", "Click at coordinates 500, 300", "<click>500, 300</click>",
         R"({"coordinate":"500,300"})", R"({"action_type":"CLICK","coordinates":"500,300"})", "(500;300)",
         R"({"x": "500", "y": "300"})"},
        {"500", "500 of 300", "500,300,1"});
}

TEST_CASE("places that are denied, compared or of a label are not the answer") {
  check({"iou", {100, 200, 300, 400}},
        {"It's [100,200,300,400], not [500,500,600,600].", "[100,200,300,400] rather than [500,500,600,600]",
         "It is not [500,500,600,600] but [100,200,300,400].",
         "The final answer is <box>(100,200),(300,400)</box>, and the distractor is <box>(500,500),(600,600)</box>.",
         "Final box: [100,200,300,400]. (My first guess was [500,500,600,600].)",
         "The box is [100,200,300,400], which lies left of the plate at [500,500,600,600].",
         R"({"bbox_2d":[100,200,300,400],"label":"cup at [1,2,3,4]"})"},
        {"It's [500,500,600,600], not [100,200,300,400].", "not [100,200,300,400]", "nicht (100,200),(300,400)"});
  check({"point_in_box", {400, 250, 600, 350}},
        {"The answer is (500,300), not (100,100).", R"x({"x":500,"y":300,"label":"OK (1,1)"})x"},
        {"It's (100,100), not (500,300)."});
}

TEST_CASE("the task says the scale of coordinates") {
  const Json gold = {0.1, 0.2, 0.3, 0.4};
  check(grader_of("iou", gold, {{"coordinates", "0-1"}}), {"[0.1,0.2,0.3,0.4]"}, {"[100,200,300,400]"});
  check(grader_of("iou", gold, {{"coordinates", "0-1"}, {"response_coordinates", "0-1000"}}), {"[100,200,300,400]"},
        {"[0.1,0.2,0.3,0.4]"});
  check(grader_of("iou", {100, 100, 300, 200},
                  {{"coordinates", "pixels"}, {"response_coordinates", "0-1000"}, {"size", {1000, 500}}}),
        {"[100,200,300,400]"}, {"[100,100,300,200]"});
  check(grader_of("point_in_box", {400, 100, 600, 200},
                  {{"coordinates", "pixels"}, {"response_coordinates", "0-1"}, {"size", {1000, 500}}}),
        {"(0.5, 0.3)"}, {"(500,150)", "(0.5,0.5)"});
  check(grader_of("gui_step", "CLICK <point>[[960,540]]</point>", {{"coordinates", "pixels"}, {"size", {1920, 1080}}}),
        {"click(start_box='(960,540)')", "click(x=1100, y=540)"}, {"click(x=1300, y=540)", "click(500,500)"});
  CHECK_THROWS_WITH(grader_of("iou", {1, 2, 3, 4}, {{"coordinates", "0-1"}}), Contains("inside the picture"));
  CHECK_THROWS_WITH(grader_of("iou", gold, {{"coordinates", "percent"}}), Contains("percent") && Contains("0-1000"));
  CHECK_THROWS_WITH(grader_of("iou", gold, {{"response_coordinates", "0-1"}}), Contains("\"coordinates\""));
  CHECK_THROWS_WITH(grader_of("gui_step", "WAIT", {{"coordinates", "pixels"}}), Contains("\"size\""));
  CHECK_THROWS_WITH(grader_of("number", 1, {{"coordinates", "pixels"}}), Contains("does nothing"));
  CHECK_THROWS_WITH(grader_of("iou", gold, {{"size", {0, 1}}}), Contains("\"size\""));
}

TEST_CASE("the place of another thing, where the one that is asked for is absent") {
  check(
      Grader("iou", {100, 200, 300, 400}),
      {"The dog is at [100,200,300,400].", "I see the dog at [100,200,300,400], but no other animals.",
       "There is no doubt: the dog is at [100,200,300,400].",
       "The cat is missing, but the dog is at [100,200,300,400]. The dog: [100,200,300,400]"},
      {"I see the cat at [100,200,300,400], but no dog.", "The picture contains a cat at [100,200,300,400] but no dog.",
       "No dog, only a cat at [100,200,300,400].", "No dogs here, just a cat at [100,200,300,400].",
       "The dog is missing. The cat is at [100,200,300,400].", "The cat is at [100,200,300,400]. The dog is absent."});
  check(
      Grader("point_in_box", {100, 200, 300, 400}),
      {"The OK button is at (200,300).", "The menu is closed, but the OK button is at (200,300).",
       "Click (200,300), but no scrolling is needed.", "The label is missing a letter. The OK button is at (200,300).",
       "There is no OK button. However, the OK label is at (200,300)."},
      {"There is no OK button; the cancel button is at (200,300).",
       "There is no OK button. The Cancel button is at (200,300).",
       "The OK button is missing. The Cancel button is at (200,300).",
       "The OK button is absent from the screen. The Cancel button is at (200,300).",
       "There is no UI element. The Cancel button is at (200,300)."});
}
