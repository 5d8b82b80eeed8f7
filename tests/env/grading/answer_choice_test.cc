// Answers as models write them, by kind. Each row: a response, and whether it is right.
#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "cpu_time.h"
#include "env/grading/answer/part.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/grade_options.h"
#include "env/grading/grader.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

namespace {

using Responses = std::vector<std::string>;
using Options = std::vector<std::string>;

void check(const Grader& grader, const Responses& right, const Responses& wrong) {
  for (const std::string& response : right) {
    const Grade grade = grader.judge(response);
    INFO(response << "\n" << grade.why);
    CHECK(grade.correct);
  }
  for (const std::string& response : wrong) {
    const Grade grade = grader.judge(response);
    INFO(response << "\n" << grade.why);
    CHECK_FALSE(grade.correct);
    CHECK(grade.reward < 1);
  }
}

// A grader as a task's line names it.
Grader grader_of(const std::string& name, const Json& gold, const Json& task) {
  return Grader(name, gold, grade_options_of(task));
}

}  // namespace

TEST_CASE("plain text") {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"**73**", "73"},
      {"  a \n\n b\t c ", "a\nb c"},
      {"\\(30\\)", "30"},
      {"$x^2$", "x^2"},
      {"$5 and $6", "$5 and $6"},
      {"US$12 or US$15", "US$12 or US$15"},
      {"30^\\circ", "30°"},
      {"30^{\\circ}\\text{C}", "30°C"},
      {"\\frac12", "1/2"},
      {"\\dfrac{10}{4}", "10/4"},
      {"1\\frac{1}{2}", "1 1/2"},
      {"\\frac{a+1}{b}", "(a+1)/b"},
      {"\\sqrt{3}", "√3"},
      {"\\boxed{\\text{Sunday}}", "Sunday"},
      {"\\mathrm{5\\,kg}", "5 kg"},
      {"1{,}234", "1,234"},
      {"50\\%", "50%"},
      {"\\$5", "$5"},
      {"\\left(3, 4\\right)", "(3, 4)"},
      {"`x_1`", "x_1"},
      {"```json\n{\"a\": 1}\n```", "{\"a\": 1}"},
      {"## The end", "The end"},
      {"#### 5", "#### 5"},
      {"a<b", "a<b"},
      {"a <b>c</b> d", "a c d"},
      {"x\xC2\xB2 and 10\xE2\x81\xBB\xC2\xB3", "x^2 and 10^-3"},
      {"2½", "2 1/2"},
      {"５０％", "50%"},
      {"٣٫١٤", "3.14"},
      {"−5", "-5"},
      {"“a”", "\"a\""},
      {"1\u00a0234\u202f567", "1 234 567"},
      {"a\u200bb\ufeff", "ab"},
      {"e\u0301", "é"},
      {"*", "*"},
      {"A*", "A*"},
      {"A^+ and $Cl^{-}$", "A+ and Cl-"},
      {"x^-1", "x^-1"},
      {"a &lt; b &amp;&gt;", "a < b &>"},
      {"~~5~~ 4", "4"},
      {"~~B~~ **D**", "D"},
      {"2*3*4", "2*3*4"},
      {"\xff", "\xEF\xBF\xBD"}};
  for (const auto& [text, plain] : texts) {
    INFO(text);
    CHECK(plain_text(text) == plain);
  }
}

TEST_CASE("the strongest part of a response counts") {
  using Kind = AnswerPart::Kind;
  const auto part = [](const std::string& response) { return answer_part(response); };
  CHECK(part("x <answer>a</answer> y <answer> b </answer> z").text == "b");
  CHECK(part("<answer>\\boxed{a}</answer>").text == "a");
  CHECK(part("\\boxed{c} <answer>a</answer>").text == "a");
  CHECK(part("<answer><answer>5</answer></answer>").text == "5");
  CHECK(part("<answer>5").text == "5");
  CHECK(part("<ANSWER>5</Answer>").text == "5");
  CHECK(part("<answer>5</answer> Note that <answer> is a tag").text == "5");
  CHECK(part("<answer></answer> 5").text.empty());
  CHECK(part("\\boxed{1} then \\boxed{2}").text == "2");
  CHECK(part("\\boxed{1} then \\boxed{}").text == "1");
  CHECK(part("<|begin_of_box|>7<|end_of_box|>").text == "7");
  CHECK(part("<think>\\boxed{1}</think> It is 2").text == "It is 2");
  CHECK(part("<think>it is 3</think>").text == "it is 3");
  CHECK(part("7 <score>0.5</score>").text == "7");
  CHECK(part("7").kind == Kind::whole);
  CHECK(part("").text.empty());
}

TEST_CASE("numbers as models write them") {
  check(Grader("number", 73),
        {"**73**", "**Answer:** 73", "The answer is **73**.", "#### 73", "73.0", "+73", "７３", "٧٣", "۷۳", "७३", "=73",
         "about 73", "Answer\n\n73", "\\boxed{73}", "<answer>**73**</answer>", "7.3 x 10^1",
         "The final answer is 73, since 70 + 3 = 73.", "70 + 3 = 73"},
        {"", "7 3", "-73", "74", "730", "73/2", "73 or 74", "not 73", "<answer></answer>73", "7.3", "seventy"});
  check(Grader("number", 30),
        {"\\(30\\)",
         "30^\\circ",
         "30^{\\circ}",
         "30°",
         "30 º",
         "30\\text{ cm}",
         "30\\,\\mathrm{cm}",
         "x = 30",
         "$x=30$",
         "$x = 30^\\circ$",
         "30 cm",
         "30 degrees Celsius",
         "\\[ 30 \\]",
         "\\boxed{30\\text{ cm}}",
         "<answer>\\boxed{30}</answer>",
         "The angle is 30°.",
         "Therefore, the angle ABC is 30 degrees.",
         "30 cm (about 12 inches)",
         "`30`",
         "\"30\"",
         "I counted 18 red and 12 blue balls, so there are 30",
         "\\frac{60}{2}",
         "The answer is $30$",
         "Antwort: 30",
         "答案是30。",
         "La respuesta es 30",
         "La réponse est 30.",
         "the answer is x = 30"},
        {"x = 3, y = 30", "30 - 5", "30:15", "3 0", "30 to 40", "2030", "x30"});
  check(Grader("number", 0.5),
        {"\\frac12", "\\frac{1}{2}", "\\tfrac12", "1/2", "½", "0.5", ".5", "0,5", "5e-1", "$\\dfrac{1}{2}$", "0.50",
         "5 \\times 10^{-1}", "50/100", "The answer to 0.2 + 0.3 is 0.5."},
        {"5", "1", "\\frac{1}{0}", "1/2/3", "2"});
  check(Grader("number", 1.5), {"1\\frac{1}{2}", "1 1/2", "1½", "3/2", "1.5 hours"}, {"11/2", "1/2", "1.51"});
  check(Grader("number", 12),
        {"12 square meters", "US$12", "$12", "€12", "12 €", "12 USD", "EUR 12", "12 m²", "12 m^2", "12 cm^{2}",
         "12 km/h", "12 m/s^2", "a total of 12", "12 red apples", "12.00", "Rs. 12"},
        {"12 or 13", "1 2", "-12", "12^2", "12-13"});
  check(Grader("number", 1234567),
        {"1 234 567", "1\u00a0234\u00a0567", "1\u202f234\u202f567", "1\u2009234\u2009567", "1,234,567", "1.234.567",
         "1'234'567", "1’234’567", "1_234_567", "12,34,567", "1{,}234{,}567", "1\\,234\\,567", "1.234567 million",
         "1,234,567.0", "１２３４５６７"},
        {"1,234,568", "1234", "1.234567", "1,23,4567"});
  check(Grader("number", 1234.5), {"1,234.5", "1.234,5", "1 234,5", "1234.50", "1.2345e3"}, {"12345", "1.2345"});
  check(Grader("number", 50), {"50 %", "50\u00a0%", "50%", "50\\%", "50 percent", "５０％", "٥٠٪", "50 per cent"},
        {"5", "0.5"});
  check(Grader("number", 2500),
        {"2.5 x 10^3", "2.5×10^3", "2.5 \\times 10^{3}", "2.5 \\cdot 10^3", "2.5*10^3", "2.5 * 10**3", "2.5e3",
         "2.5E+03", "2.5·10³", "2.5 × 10 ^ 3", "2.5 thousand", "2.5k", "25 hundred", "$2.5k"},
        {"2.5", "2.5 x 10", "2.5 x 10^4", "2.5 x 103"});
  check(Grader("number", 2000000),
        {"2 million", "2M", "$2 million", "2 million people", "2 Millionen", "2 mio", "200万", "2,000,000", "2 milyon",
         "2 ملايين", "2 ล้าน", "2ล้านคน", "20 लाख", "2 triệu", "2 juta", "2 εκατομμύρια", "2 miliony"},
        {"2", "2 billion", "2 thousand", "2 m", "2 millionths", "2 लाख", "2 พัน", "2 مليار"});
  check(Grader("number", 50'000'000), {"5 करोड़", "5 crore", "50 млн.", "0.5 억", "50 מיליון"}, {"5 लाख", "50", "5억"});
  check(Grader("number", -5),
        {"-5", "−5", "–5", "- 5", "-$5", "$-5", "\\(-5\\)", "(-5)", "x=-5", "The answer is -5.", "-5.0"},
        {"5", "--5", "3-5", "10 - 5 is 5"});
  check(Grader("number", "\\sqrt{3}"), {"√3", "\\sqrt3", "\\sqrt{3}", "1.7320508"}, {"3", "1.73"});
  check(Grader("number", "\\frac{\\sqrt{3}}{2}"), {"√3/2", "\\frac{\\sqrt3}{2}", "0.8660254"}, {"3/2"});
  check(Grader("number", "2\\pi"), {"2π", "2\\pi", "6.2831853"}, {"2", "6.28"});
  check(Grader("number", {"3", "4"}), {"3", "4"}, {"34", "3 4", "5"});
}

TEST_CASE("whole numbers are equal exactly, others by a rule that the task may set") {
  check(Grader("number", 1000000), {"1000000", "1e6"}, {"1000001", "1000000.5", "999999"});
  check(Grader("number", "9007199254740993"), {"9007199254740993"}, {"9007199254740992"});
  check(Grader("number", 0), {"0", "0.0", "-0"}, {"1e-10", "0.0000001"});
  check(Grader("number", 1e-10), {"1e-10", "0.0000000001"}, {"5e-10", "0", "1.1e-10"});
  check(Grader("number", 0.333333333), {"1/3"}, {"0.33"});
  check(grader_of("number", 100, {{"tolerance", 0.05}}), {"100", "95", "105", "104.9"}, {"94.9", "106", "-100"});
  check(grader_of("number", 10, {{"tolerance", {{"absolute", 0.5}}}}), {"10.5", "9.5"}, {"10.6"});
  check(grader_of("number", 0, {{"tolerance", {{"relative", 0.1}, {"absolute", 0.01}}}}), {"0.01"}, {"0.02"});
  CHECK_THROWS_WITH(grader_of("number", 1, {{"tolerance", -1}}), Contains("-1"));
  CHECK_THROWS_WITH(grader_of("number", 1, {{"tolerance", {{"relativ", 1}}}}), Contains("Did you mean 'relative'"));
  CHECK_THROWS_WITH(grader_of("exact", "x", {{"tolerance", 0.1}}), Contains("\"tolerance\" does nothing"));
}

TEST_CASE("options by letter and by text") {
  const Options grades = {"yellow", "A+", "B-"};
  check(Grader("choice", "A+", grades), {"A+", "B", "(B)", "The answer is A+."}, {"yellow", "A", "C", "B-"});
  const Options animals = {"cat", "dog", "cow", "hen"};
  check(Grader("choice", "A", animals),
        {"A", "Option A is correct", "option A is correct.", "The answer is A because it purrs", "A is correct", "(A)",
         "A) cat", "**A**", "\\boxed{A}", "\\boxed{\\text{A}}", "cat", "A cat.", "The correct option is A",
         "I choose A", "The answer is (A).", "Final answer: **A. cat**", "<answer>A. cat</answer>",
         "So A is the best choice.", "B is wrong, so A"},
        {"A dog", "B", "I am not sure", "A or B", "not A", "The answer is A, B", "The answer is not A",
         "Option A is wrong", "A and C", ""});
  check(Grader("choice", "C", animals),
        {"The final answer is C. Option (A) looked right at first.",
         "(A) is too small. The answer is C.",
         "Final answer: C\n\nNote: (B) is close.",
         "C",
         "c",
         "ⓒ",
         "Ｃ",
         "【C】",
         "答案是C",
         "答案：C",
         "The answer is A. Wait, no. The answer is C.",
         "The answer is not B but C",
         "cow",
         "It is the cow",
         "<think>A? B?</think>C",
         "Answer:\nC",
         "`C`",
         "Option C",
         "C: cow",
         "My answer is C)",
         "So the correct choice is **C**."},
        {"B or C", "(B) or (C)", "hen", "D", "C and D", "Vitamin"});
  Options many;
  for (int i = 0; i < 10; ++i) many.push_back("text number " + std::string(1, static_cast<char>('p' + i)));
  check(Grader("choice", "C", many), {"I think the answer is C", "I would go with C", "I believe it's option C."},
        {"I do not know", "I think so"});
  check(Grader("choice", "I", many), {"I", "(I)", "The answer is I.", "option I", "I is correct"},
        {"I do not know", "I think the answer is C", "The option I like is B"});
}

TEST_CASE("options that are signs, or differ in signs alone") {
  check(Grader("choice", "<", {"<", ">", "="}),
        {"<", "\\(<\\)", "$<$", "\\lt", "`<`", "\"<\"", "The answer is <.", "A", "The sign is <"},
        {">", "=", "B", "≤"});
  check(Grader("choice", "-5", {"5", "-5", "1.5", "15"}),
        {"-5", "−5", "B", "The answer is -5.", "$-5$", "\\boxed{-5}", "x is -5"}, {"5", "1.5", "15", "A"});
  check(Grader("choice", "1.5", {"5", "-5", "1.5", "15"}), {"1.5", "C", "\\frac{3}{2}", "1.50"}, {"15", "5"});
  check(Grader("choice", "+", {"+", "-", "\u00d7", "\u00f7"}), {"+", "A", "**+**"}, {"-", "×", "\\times"});
  check(Grader("choice", "15", {"5", "10", "15"}), {"5 + 10 = 15", "x = 15", "15 cm", "The area is 15.", "C"},
        {"5", "10", "5 and 10"});
  check(Grader("choice", "30 cm", {"30 cm", "30 m"}), {"30 cm", "30 cm.", "A"}, {"30 m", "30"});
  check(Grader("choice", "B", {"A. cat", "B. dog"}), {"B", "dog", "B. dog", "The dog"}, {"cat", "A"});
}

TEST_CASE("a gold that fits no option, or two, is refused") {
  CHECK_THROWS_WITH(Grader("choice", "cat", Options{"cat", "dog", "cat"}), Contains("fits two options"));
  CHECK_THROWS_WITH(Grader("choice", "A", Options{"B", "A"}), Contains("fits two options"));
  CHECK_THROWS_WITH(Grader("choice", "Cat", Options{"cat", "CAT"}), Contains("fits two options"));
  CHECK_NOTHROW(Grader("choice", "A", Options{"A", "B"}));
  CHECK_NOTHROW(Grader("choice", "cat", Options{"cat", "CAT"}));
  CHECK_THROWS_WITH(Grader("choice", "cow", Options{"cat", "dog"}), Contains("2 options"));
  for (const char* name : {"exact", "normalized", "f1", "number"}) {
    CHECK_THROWS_AS(Grader(name, ""), Error);
    CHECK_THROWS_AS(Grader(name, " \n"), Error);
    CHECK_THROWS_AS(Grader(name, Json{"x", ""}), Error);
  }
}

TEST_CASE("texts") {
  check(Grader("normalized", "Sunday"),
        {"Sunday", "sunday", "\\boxed{\\text{Sunday}}", "<answer>\\boxed{Sunday}</answer>", "**Sunday**",
         "The answer is Sunday.", "$\\text{Sunday}$", "“Sunday”", "Final Answer: **Sunday**", "Let me think.\n\nSunday",
         "the Sunday!"},
        {"", "Monday", "Sun day", "Sunday or Monday", "The"});
  check(Grader("normalized", "yes"), {"Yes, it is higher.", "yes", "Yes.<|im_end|>", "YES!"},
        {"No, it is not.", "yesterday", "", "no, yes"});
  check(Grader("normalized", "A"), {"A", "a", "A."}, {"", "the", "!", " ", "B", "<answer></answer>"});
  check(Grader("normalized", "The The"), {"The The", "the the"}, {"", "The", "a"});
  check(Grader("normalized", "?"), {"?"}, {"", "!"});
  check(Grader("normalized", "caf\u00e9"), {"cafe\u0301", "CAFÉ", "café"}, {"cafe"});
  check(Grader("normalized", "3.14"), {"3.14", "$3.14$"}, {"314", "31.4"});
  check(Grader("normalized", "-5"), {"-5", "−5"}, {"5"});
  check(Grader("normalized", "1/2"), {"1/2", "½", "\\frac{1}{2}"}, {"12"});
  check(Grader("normalized", "C++"), {"C++", "c++"}, {"C", "C#"});
  check(Grader("normalized", "x < 5"), {"x < 5", "x<5"}, {"x > 5", "x 5"});
  check(Grader("normalized", "10:30"), {"10:30", "10:30."}, {"1030", "10 30"});
  check(Grader("normalized", "St. Louis"), {"The answer is St. Louis.", "st louis"}, {"St"});
  check(Grader("exact", "Sunday"),
        {"Sunday", " Sunday\n", "\\boxed{\\text{Sunday}}", "**Sunday**", "<answer>Sunday</answer>"},
        {"sunday", "Sunday!", "", "Sundays"});
  check(Grader("exact", "3.14"), {"3.14"}, {"314", "3.140"});
}

TEST_CASE("F1 counts repeated words, and an answer equal to a gold is 1") {
  for (const char* name : {"f1", "f1_multiset"}) {
    CHECK(Grader(name, "New York, New York").grade("New York, New York") == 1);
    CHECK(Grader(name, "New York, New York").grade("new york new york.") == 1);
    CHECK(Grader(name, "red red").grade("red") == Approx(2.0 / 3));
    CHECK(Grader(name, "the the").grade("the the") == 1);
    CHECK(Grader(name, "the").grade("") == 0);
    CHECK(Grader(name, "3.14").grade("314") == 0);
    CHECK(Grader(name, "a red cat").grade("The answer is a red cat.") == 1);
    CHECK(Grader(name, {"red cat", "blue cat"}).grade("\\boxed{blue cat}") == 1);
  }
}

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

TEST_CASE("options that a response goes through, one after another") {
  const Options cities = {"Paris", "London", "Berlin", "Madrid"};
  check({"choice", "B", cities},
        {"A. Paris: no tower is to be seen.\nB. London: its clock is.\nC. Berlin: no.\nD. Madrid: no.\n\nThe answer is "
         "B.",
         "Option A shows a tower that is not there. Option B shows the clock. Therefore the answer is B.",
         "Answer: A\n\nWait, the bus is red.\n\nAnswer: B", "Answer: A is tempting, but B is right.",
         "B. London\n\nWhy: A. Paris has no red buses.", "B. London\nBerlin and Madrid have yellow buses.",
         "Option B fits best, since A and C have no bus.", "The correct answer is B.\nWrong answer: A",
         "Best answer: B\nSecond-best answer: A", "Correct answer: B. Your answer: A.",
         "The answer is B. If the bus were yellow, the answer would be D.", "<answer>B<answer>", "B。图片中有钟楼。",
         "所以选B。", "因此，应选择B。", "B选项正确", "我选择B。", "정답은 B입니다.", "正解はBです。"},
        {"Answer: B or C", "Answer: B, C", "Answer: B/C", "The answer is B (or D).", "<answer>B/D</answer>",
         "\\boxed{A/B/C/D}", "<answer>A. Paris\nB. London\nC. Berlin\nD. Madrid</answer>", "Answer: A, B, C, D",
         "A. Paris: no.\nB. London: its clock, so this is it.\nThe correct answer is A."});
  check({"choice", "C", {"30", "40", "50", "60"}},
        {"Therefore the measure of angle A is 50.", "Thus, $\\angle A = 50^\\circ$.",
         "Point D halves it. Thus the length is 50."},
        {"Therefore the measure of angle C is 40."});
  check({"choice", "B", {"A", "B", "C"}}, {"The answer is point B.", "It is angle B."}, {"The answer is point C."});
  check({"choice", "C", {"30 A", "40 A", "50 A", "60 A"}}, {"The current is therefore 50 A."},
        {"It is therefore 30 A."});
  check({"choice", "B", {"red", "dark red", "blue"}}, {"The car is dark red."}, {"The car is red.", "red and blue"});
  check({"choice", "A", {"Yes", "No"}}, {"Yes, it is. No other answer is possible."}, {"No. It does not say \"yes\"."});
  check({"choice", "B", {"Yes", "No"}}, {"Answer: No. The bar is lower."}, {"Answer: Yes. The bar is higher."});
  check({"choice", "A", {"-5", "5", "-15", "15"}}, {"$- 5$", "minus 5", "negative 5"}, {"5"});
  Options elements(10, "none");
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = std::string(3, static_cast<char>('k' + i));
  check({"choice", "I", elements}, {"The answer is I."}, {"The answer I would give is not there."});
}

TEST_CASE("numbers among units, lists and what is said of them") {
  check({"number", 42},
        {"Therefore the area is **42 cm\u00b2**.", "Area: 42 cm^2", "The volume is 42 m<sup>3</sup>.",
         "It moves at $42\\,\\mathrm{m/s^2}$.", "The answer is 42.\n\nA common wrong answer is 36.",
         "The correct answer is 42, the student's answer is 36.",
         "**42**\n\nThere is 1 row of 40, and there are 2 more."},
        {"The area is 42 cm^2 or 43 cm^2."});
  check({"number", 4},
        {"There are **4** cats.\n\n- 2 on the sofa\n- 2 on the floor", "There are 4 cats:\n- 2 black\n- 2 white",
         "- 1 dog\n- 3 cats\n- 4 in total", "4\n\nExplanation: 1 dog and 3 cats.",
         "1. dog\n2. cat\n3. bird\n\nTotal: 4 animals"},
        {"- 1 dog\n- 3 cats"});
  check({"number", -5}, {"The temperature is minus 5 degrees.", "The answer is negative 5."},
        {"The answer is 5.", "10 minus 5"});
}

TEST_CASE("a yes or no with its reason, a title's period, quotes") {
  for (const char* grader : {"normalized", "f1"}) {
    check({grader, "yes"},
          {"Answer: Yes, it is higher.", "Yes it is higher.", "Yes! It is.", "I compare them.\nYes, it is."},
          {"Answer: No, it is not.", "Yesterday."});
    check({grader, "no"}, {"The answer is no, because the bar is lower.", "No \u2014 the bar is lower."},
          {"No one knows whether it is.", "Yes, it is."});
  }
  check({"normalized", "St. Petersburg"}, {"The answer is St. Petersburg. It lies in Russia."}, {"The answer is St."});
  check({"normalized", "\u6771\u4eac"}, {"\u6b63\u89e3\uff1a\u6771\u4eac"}, {});
  check({"exact", "STOP"}, {"The answer is \"STOP\".", "'STOP'"}, {"\"stop\""});
}

TEST_CASE("options that are denied, and what is left of two") {
  const Options cities = {"Paris", "London", "Berlin", "Madrid"};
  check({"choice", "False", {"True", "False"}},
        {"The statement is not true.", "Not true.", "That's not true.", "It is false."}, {"It is not false.", "True."});
  check({"choice", "Different", {"Same", "Different"}}, {"They are not the same.", "They are different."},
        {"They are the same."});
  check({"choice", "London", cities},
        {"The answer is London and not Paris.", "Not Paris but London.", "It is London, not Paris.",
         "London rather than Paris.", "It is neither Paris nor Berlin but London", "Paris is wrong, London is right."},
        {"It is not London.", "London is wrong.", "It cannot be London.", "<answer>not London</answer>",
         "It is not Paris or London"});
  check({"choice", "red", {"red", "green", "blue"}}, {"It's red", "not only red"}, {"It isn't red."});
  check({"choice", "No", {"Yes", "No"}}, {"There is no cat on the mat.", "No the bar is lower"},
        {"I have no idea.", "There is no way to tell from the picture."});
  check({"choice", "not red", {"not red", "red"}}, {"It is not red."}, {"It is red."});
}

TEST_CASE("options and texts of scripts without blanks, and endings of Korean") {
  check(
      {"choice", "绿色", {"红色", "蓝色", "绿色", "黄色"}},
      {"图中的球是绿色的。", "答案是绿色的。", "绿色的", "是绿色", "球是绿色的，不是红色的。", "不是红色，而是绿色。"},
      {"图中的球不是绿色的。", "红色或绿色", "绿色不对"});
  check({"choice", "是", {"是", "否"}}, {"是的。", "是的，球是红色的。"}, {"否", "不是"});
  check({"choice", "错误", {"正确", "错误"}}, {"不正确"}, {"这句话是正确的。"});
  check({"choice", "東京", {"東京", "大阪", "京都"}},
        {"答えは東京です。", "東京です。", "大阪ではなく東京です。", "答えは東京都です。"},
        {"京都です。", "東京ではありません。"});
  check({"choice", "서울", {"서울", "부산"}}, {"정답은 서울입니다.", "부산이 아니라 서울입니다."},
        {"부산입니다", "서울이 아닙니다"});
  check({"normalized", "東京"}, {"答えは東京です。", "東京です。"}, {"京都です。"});
  check({"normalized", "서울"}, {"정답은 서울입니다."}, {});
  check({"normalized", "蓝色"}, {"答案是蓝色的。", "答案是蓝色。"}, {"答案是红色的。"});
  CHECK(Grader("f1", "故宫博物院位于北京").grade("故宫博物院在北京") == Approx(14.0 / 17));
  CHECK(Grader("f1", "故宫").grade("北京") == 0);
}

TEST_CASE("conclusions in other languages, behind letters that were gone through") {
  const Options options = {"red", "blue", "green", "black"};
  const std::string before = "A选项描述的是红色，B选项描述的是蓝色。";
  for (const char* end : {"因此选C。", "所以选择C。", "答案选C", "正确选项为C", "正确的选项是C", "【答案】C",
                          "C选项正确。", "只有C符合题意。"})
    check({"choice", "C", options}, {before + end}, {});
  check({"choice", "C", options},
        {"A describe el rojo. B describe el azul. La opción correcta es C.",
         "A descreve o vermelho. B descreve o azul. A alternativa correta é C.",
         "A ist rot, B ist blau. Daher ist die richtige Antwort C.", "A ist rot, B ist blau. Also ist C richtig.",
         "A décrit le rouge, B le bleu. C est la bonne réponse.", "A и B нет. Правильный ответ — C.",
         "A는 빨강, B는 파랑. 답은 C입니다.", "Aは赤、Bは青。Cが正解です。", "Aは赤、Bは青。正しい選択肢はCです。",
         "A kırmızı, B mavi. Doğru cevap C'dir.", "A不正确，B不对，C正确"},
        {before, "不选C", "C选项不正确"});
}

TEST_CASE("the answer of a JSON object, whatever else it holds") {
  check({"number", 5},
        {R"({"answer":5,"confidence":0.9})", R"({"steps":[1,7],"answer":5})", "```json\n{\"answer\": 5, \"x\": 3}\n```",
         "So:\n{\"answer\": \"5 cm\", \"n\": 2}"},
        {R"({"answer":6,"confidence":5})"});
  check({"normalized", "blue"},
        {R"({"answer": "blue", "confidence": 0.9})", "```json\n{\n \"answer\" : \"blue\",\n \"c\": 0.9\n}\n```"},
        {R"({"answer": "red", "other": "blue"})"});
  check({"choice", "London", {"Paris", "London"}}, {R"({"answer":"London","explanation":"Paris is in France"})"},
        {R"({"answer":"Paris","explanation":"not London"})"});
  check({"iou", {1, 2, 30, 40}}, {R"({"bbox_2d":[1,2,30,40],"answer":"cat"})"}, {});
}

TEST_CASE("scales in other languages, numbers beside words, and numbers that are no answer") {
  check({"number", 30000}, {"3만", "3万"}, {"3"});
  check({"number", 3000}, {"3 тысячи", "3 mil", "3 тыс."}, {"3"});
  check({"number", 3000000}, {"3 миллиона", "3 milhões", "3 milioni"}, {"3"});
  check({"number", 3e9}, {"3 miliardi", "3 млрд"}, {"3"});
  check({"number", 3e8}, {"3억"}, {"3"});
  check({"number", 24}, {"2 dozen", "There are 2 dozen eggs."}, {"2"});
  check({"number", 12}, {"a dozen (12)", "12 (twelve)"}, {});
  check({"number", 0}, {"zero (0)"}, {});
  check({"number", 0.25}, {"a quarter (1/4)", "one fourth (0.25)"}, {});
  check({"number", 5},
        {"The answer is 5!", "I counted 5!", "It is 5, which is more than 3", "=> 5", "-> 5", "> 5",
         "<result>5</result>", "<count> 5"},
        {"It cannot be 5.", "The wrong answer is 5.", "x > 5", "less than 5", "sin 5", "5!", "It is not equal to 5"});
  check({"number", 300}, {"T = 300K", "The temperature is 300K.", "300 K"}, {"300K"});
}

TEST_CASE("bounds and denied numbers are no answer") {
  check({"number", 5}, {"> 5", "It is 5, at least 4.", "5 or so", "3 is wrong, it is 5", "nicht 4, sondern 5"},
        {">5",
         "<5",
         "\u22655",
         "\u2264 5",
         "\\boxed{>5}",
         "<answer>>5</answer>",
         "5+",
         "<answer>5+</answer>",
         "at least 5",
         "at most 5",
         "The answer is at least 5.",
         "There are at least 5 birds.",
         "over 5",
         "under 5",
         "above 5",
         "up to 5",
         "5 or more",
         "5 or fewer birds",
         "minimum 5",
         "a maximum of 5",
         "mehr als 5",
         "mindestens 5",
         "m\u00e1s de 5",
         "plus de 5",
         "5 ou plus",
         "\u0431\u043e\u043b\u044c\u0448\u0435 5",
         "超过5",
         "5以上",
         "5個以上"});
  check(
      {"number", 5}, {},
      {"5 is incorrect", "5 is not the answer", "5 would be wrong", "5? No.", "5 is too many", "The answer can't be 5",
       "The answer is anything but 5.", "everything except 5", "I doubt it's 5", "I can't tell if it is 5.", "keine 5",
       "pas 5", "no es 5", "\u043d\u0435 5", "不是5", "5ではない", "5가 아닙니다"});
  check({"number", 2}, {"答案不是3，而是2", "Die Antwort ist nicht 3, sondern 2.", "La respuesta no es 3 sino 2"}, {});
}

TEST_CASE("sums, lists and functions in place of a number") {
  check({"number", 5},
        {"The answer is 42 - 37 = 5.", "Answer: 42 - 37 = 5 apples", "The answer: 42 \u2212 37 = 5 units",
         "- Exports: 42\n- Imports: 37\n- Difference: 5", "Let $a=42$ and $b=37$. Then $a-b=5$."},
        {"The answer is 5, 6.", "Answer: 5; 6", "Answer: (5, 6)", R"({"answer": [5, 6]})", "- red: 5\n- blue: 6",
         "5 red\n6 blue", "f(5)", "log_2(5)", "5i", "5y\u00b2", "5x4", "5 and a half"});
  check({"number", 42}, {}, {"The answer is 42 - 37", "The answer is 42 - 37 = 5."});
  check({"number", "\\sqrt{8}"}, {"2*sqrt(2)", "sqrt(8)"}, {"sqrt(2)", "8"});
  check({"number", "2\\pi"}, {"2 pi", "2 pi cm"}, {"2 pieces"});
}

TEST_CASE("reasons behind a number do not replace it, corrections do") {
  check({"number", 8},
        {"There are 8 legs because there are 2 dogs.", "8, because 2 dogs have 4 legs each",
         "**8** legs: 2 dogs with 4 each", "It has **8** legs; a dog has 4.", "x = 8 (x = -3 is rejected)",
         "x = 8, since x = -3 is negative", "The width is 8 cm, given that the height is 5 cm.",
         "The total is 8 if the price is 3.", "x equals 8 when y equals 2", "The value is 8, which is 1 higher than 7.",
         "There are 8 balls: 5 red and 3 blue.", "The difference is 8, as exports are 42 and imports are 34."},
        {"There are 2 dogs with 4 legs, so there are 9.", "We had 8, if 3 go, 5 are left."});
  check({"number", 4},
        {"The answer is 5. Actually, it's 4.", "Answer: 5. Correction: 4.", "Answer: 5\n\nEdit: 4", "5... no, 4.",
         "5, wait, 4", "The answer is 5.\n\nHmm, one is a reflection. So 4.",
         "I initially counted 5, but on recount it's 4."},
        {"The answer is 5. Wait, I check the 4 bars. Yes.", "Actually 4 or 5"});
}

TEST_CASE("number words, where they are the whole answer") {
  check({"number", 2},
        {"Two", "two dogs", "There are two dogs.", "The answer is two.", "<answer>two</answer>", "\\boxed{\\text{two}}",
         "I count two."},
        {"two of them", "two thirds", "two or three", "two or more", "twenty-two", "There are two dogs and one cat."});
  check({"number", 23}, {"twenty-three", "Twenty three."}, {"twenty", "three"});
  check({"number", 312}, {"three hundred and twelve"}, {});
  check({"number", 12000}, {"twelve thousand"}, {"twelve"});
  check({"number", 0}, {"zero", "Zero."}, {"ten"});
  check({"number", -5}, {"minus five"}, {"five"});
  check({"number", 5}, {"The two bars differ by 5."}, {});
  CHECK_THROWS_AS(Grader("number", "seven"), Error);
}

TEST_CASE("a verdict for each option") {
  const Options animals = {"cat", "dog", "horse", "bird"};
  check({"choice", "B", animals},
        {"A. cat: incorrect.\nB. dog: correct.\nC. horse: incorrect.\nD. bird: incorrect.",
         "Evaluate each option:\n\n**A. cat** \u2013 Incorrect. No whiskers.\n\n**B. dog** \u2013 Correct. Floppy "
         "ears.\n\n**C. horse** \u2013 Incorrect.\n\n**D. bird** \u2013 Incorrect.",
         "A - incorrect\nB - correct\nC - incorrect\nD - incorrect", "A: No\nB: Yes\nC: No\nD: No",
         "A. cat ✗\nB. dog ✓\nC. horse ✗\nD. bird ✗", "A. ❌\nB. ✅\nC. ❌\nD. ❌",
         "A. cat \u2013 does not match\nB. dog \u2013 matches\nC. horse \u2013 does not match\nD. bird \u2013 does not "
         "match",
         "[ ] A\n[x] B\n[ ] C\n[ ] D", "- [ ] A\n- [x] B\n- [ ] C\n- [ ] D", "☐ A ☑ B ☐ C ☐ D",
         "A (incorrect), B (correct), C (incorrect), D (incorrect)", "A (no), B (yes), C (no), D (no)",
         "A ❌ B ✅ C ❌ D ❌", "- A: false\n- B: true\n- C: false\n- D: false", "Correct: B, incorrect: A, C, D",
         "A項は誤り、C項は誤り、D項は誤り。よってB。", "A、C、D都不对，所以是B。",
         "A can be eliminated since there are no whiskers. C and D are out as well. That leaves B.",
         "A. cat: wrong\nB. dog\nC. horse: wrong\nD. bird: wrong"},
        {"[x] A\n[ ] B", "A (yes), B (yes), C (no), D (no)", "A: no\nB: no\nC: no\nD: no", "A: no\nC: no"});
  check({"choice", "A", {"True", "False"}}, {}, {"A. True\nB. False"});
}

TEST_CASE("not this option but that one, in other languages") {
  const Options animals = {"cat", "dog", "horse", "bird"};
  check({"choice", "D", animals},
        {"答案不是B，而是D。", "正确答案不是B，应该是D", "La respuesta no es B sino D.", "정답은 B가 아니라 D입니다.",
         "Cevap B değil, D'dir.", "A resposta não é B, mas D.", "La risposta non è B ma D.",
         "Die Antwort ist nicht B, sondern D.", "La réponse n'est pas B mais D.", "Правильный ответ не B, а D.",
         "Đáp án không phải B mà là D.", "الإجابة ليست B بل D", "उत्तर B नहीं, D है"},
        {});
  check({"choice", "B", animals}, {}, {"答案不是B", "答案不是B，而是D。", "Die Antwort ist nicht B."});
}

TEST_CASE("an option's text before letters further on, and letters that name a thing") {
  check({"choice", "Yes", {"Yes", "No"}},
        {"Yes, team B won.", "Yes, point B is on the line", "Yes. Building B is taller.", "Yes \u2014 line B crosses.",
         "Yes, A equals B", "<answer>Yes, point B lies on it</answer>", "Final answer: Yes (B is longer than A)"},
        {"No. Building A is taller.", "No, A equals B", "Yes, no, B"});
  check({"choice", "False", {"True", "False"}}, {"It's false, because A is bigger"}, {"True, since B > C"});
  check({"choice", "red", {"red", "green", "blue", "yellow"}},
        {"Line B is red.", "Bar B: red", "The colour of bar B is red.", "Red. Region D is red.", "Red (see region D)",
         "Team C wears red", "Vitamin D pills are red"},
        {"Red or blue: B", "Region A is blue."});
  check({"choice", "Point B", {"Point B", "Point A", "Point D", "Point C"}}, {"point B is the highest", "A"}, {"B"});
}

TEST_CASE("corrections of options, and options of no other") {
  const Options animals = {"cat", "dog", "horse", "bird"};
  check({"choice", "B", animals},
        {"Answer: D. Correction: B.", "The answer is D... hmm, scratch that, B.", "My answer is D. Edit: B.", "~~D~~ B",
         "D... no, B.", "D, no wait, B", "It looks like a cat, but it's a dog.",
         "A. cat\nB. dog\nC. horse\nD. bird\n\nIt is a dog."},
        {"Answer: ~~B~~ **D**", "Answer: D. Wait, B or C?"});
  check({"choice", "D", {"Paris", "London", "Rome", "None of the above"}}, {"None", "None of these"}, {"No idea"});
  check({"choice", "A+", {"yellow", "A+", "B-"}}, {"\\boxed{A^+}"}, {});
  check({"choice", "<", {"<", ">", "="}}, {"&lt;"}, {"&gt;"});
}

TEST_CASE("texts of formulas and charges differ by their signs") {
  for (const auto& [gold, right, wrong] : std::vector<std::tuple<std::string, Responses, Responses>>{
           {"y=2x+3", {"y = 2x + 3", "$y=2x+3$"}, {"y=2x-3", "y=2x3"}},
           {"x-y", {"x - y", "x\u2212y"}, {"xy", "x+y"}},
           {"x-1=0", {"x - 1 = 0"}, {"x+1=0", "x1=0"}},
           {"(x-1)^2", {"(x - 1)^2", "(x-1)\u00b2"}, {"(x+1)^2"}},
           {"5-x", {"5 - x"}, {"5+x", "5x"}},
           {"x = -b", {"x=-b"}, {"x = b"}},
           {"-\u03c0", {"-\\pi"}, {"\u03c0"}},
           {"-\u221a2", {"-\\sqrt{2}"}, {"\u221a2"}},
           {"\u221e", {"\\infty", "+\u221e"}, {"-\u221e"}},
           {"Ca2+", {"Ca\u00b2\u207a", "Ca^{2+}"}, {"Ca2-", "Ca2"}},
           {"Cl-", {"Cl\u207b", "Cl^-"}, {"Cl"}},
           {"AB-", {"ab-"}, {"AB", "AB+"}},
           {"!=", {"!="}, {"="}},
           {"x-ray", {"xray", "X-ray"}, {"x ray"}},
           {"T-shirt", {"t-shirt"}, {}},
           {"well-known", {"wellknown"}, {}},
           {"Paris", {"Paris -", "- Paris"}, {}}})
    check({"normalized", gold}, right, wrong);
}

TEST_CASE("texts with reasons, frames and verdicts around them") {
  check({"normalized", "Paris"},
        {"The answer is Paris, not London.", "The answer is Paris because it is the capital.",
         "The correct answer is **Paris**, which lies on the Seine.", "Paris is the answer", "1. Paris", "> Paris",
         "\"Paris\" is the answer."},
        {"The answer is London, not Paris.", "Not Paris"});
  check({"normalized", "đỏ"}, {"Đáp án: đỏ", "Đáp án là đỏ"}, {});
  check({"normalized", "kırmızı"}, {"Cevap: kırmızı"}, {});
  check({"normalized", "लाल"}, {"उत्तर: लाल"}, {});
  check({"normalized", "AT&T"}, {"AT&amp;T"}, {});
  check({"exact", "true"}, {"true", "true, it is"}, {"TRUE", "True"});
  check({"exact", "Yes"}, {"Yes, it is."}, {"yes, it is."});
  check({"normalized", "yes"}, {"Yes, it is."}, {"yes, no, maybe", "Yes. No."});
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

TEST_CASE("a grade says how it came to be") {
  const Grade right = Grader("number", 30).judge("<answer>x = 30 cm</answer>");
  CHECK(right.extracted == "30");
  CHECK_THAT(right.why, Contains("30 equals the gold answer 30"));
  REQUIRE(right.steps.size() == 4);
  CHECK_THAT(right.steps[0], Contains("<answer>"));
  const Grade none = Grader("number", 30).judge("3 or 4");
  CHECK_FALSE(none.extracted);
  CHECK_THAT(none.why, Contains("no number, or more than one"));
  CHECK(Grader("choice", "B", Options{"x", "y"}).judge("(B)").extracted == "B");
  // Of several readings, the one that equals gold: the last line, not the phrase before it.
  const Grade line = Grader("normalized", "blue").judge("The answer is red.\nblue");
  CHECK((line.correct && line.extracted == "blue"));
  CHECK(Grader("normalized", "green").judge("The answer is red.\nblue").extracted == "red");
  CHECK_THAT(Grader("exact", "x").judge("<answer></answer>").why, Contains("empty"));
}

TEST_CASE("time to grade is linear in the response, whatever it is made of") {
  const std::vector<Grader> graders = {{"exact", "x"},
                                       {"normalized", "x"},
                                       {"number", 3},
                                       {"f1", "a b c"},
                                       {"choice", "A", {"x", "b"}},
                                       {"iou", {0, 0, 9, 9}},
                                       {"point_in_box", {0, 0, 9, 9}},
                                       {"gui_step", "WAIT"}};
  for (const char* piece : {"{",           "}",
                            "1",           "1 ",
                            "1,",          "[",
                            "(",           "[1,2],",
                            "\\boxed{",    "\\frac{",
                            "\\frac",      "$",
                            "$1",          "*",
                            "**a",         "`",
                            "_a ",         "answer is ",
                            "answer: 1. ", "<answer>",
                            "</answer>",   "<think>",
                            "\\text{",     "A ",
                            "(A) ",        "option ",
                            "1e9",         "10^",
                            "\xCC\x81",    "\xCC\xA7\xCC\x81",
                            "\xff",        "= ",
                            "is ",         "<",
                            "\\",          "#",
                            "\"",          "click(",
                            "action:",     "\n",
                            ". ",          "a b. ",
                            "at x = 1, ",  "Actually, no. ",
                            "it is x, ",   "(0,0) top "}) {
    std::string text;
    while (text.size() < agon::testing::kLongText) text += piece;
    for (const Grader& grader : graders) {
      INFO(piece);
      const double seconds = agon::testing::cpu_seconds_of([&] {
        const double reward = grader.grade(text);
        CHECK((reward >= 0 && reward <= 1));
      });
      CHECK(seconds < 5);  // linear: some hundredths; in the square many times this
    }
  }
}
