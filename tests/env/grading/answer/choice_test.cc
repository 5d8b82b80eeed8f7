// Options as models name them. Each row: a grader, the responses that are right, and those that are wrong.
#include <catch2/catch.hpp>
#include <string>

#include "env/grading/grader.h"
#include "graded_responses.h"

using namespace agon;
using namespace agon::env;
using namespace agon::test;

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

TEST_CASE("an option that is denied in scripts without blanks, or behind its text") {
  check(Grader("choice", "A", {"红色", "黄色", "蓝色"}),
        {"红色", "是红色。", "柱子是红色", "不是黄色，是红色", "红色是对的", "不是蓝色，而是红色"},
        {"不是红色。", "柱子不是红色。", "不会是红色", "不选红色", "未见红色", "不应选红色", "绝不是红色",
         "图中看不到红色", "红色可以排除", "红色错误", "并非红色"});
  check(Grader("choice", "B", {"猫", "狗", "鸟", "鱼"}), {"是狗", "这是狗，不是猫"},
        {"不是狗", "答案不是狗。", "不可能是狗"});
  check(Grader("choice", "A", {"लाल", "पीला", "नीला"}), {"यह लाल है।"}, {"यह लाल नहीं है।", "लाल गलत है।", "लाल नहीं"});
  check(Grader("choice", "A", {"kırmızı", "sarı", "mavi"}), {"kırmızı", "Renk kırmızı."},
        {"Kırmızı değil.", "Kırmızı yanlış."});
  check(Grader("choice", "A", {"빨간색", "노란색", "파란색"}), {"빨간색입니다", "빨간색이 맞습니다"},
        {"빨간색은 틀렸습니다", "빨간색은 아닙니다", "빨간색은 오답입니다", "빨간색이 아닙니다"});
  check(Grader("choice", "A", {"赤", "黄", "青"}), {"赤です", "赤が正解です"},
        {"赤は不正解です", "赤ではありません", "赤は誤りです"});
}

TEST_CASE("letters and texts that a response denies or takes back") {
  check(Grader("choice", "B", {"red", "yellow", "blue", "green"}),
        {"B",
         "The answer is B.",
         "B was my first guess, and it is right.",
         "A was my first guess, but it is wrong. B.",
         "The incorrect options are A, C and D, so B.",
         "B is right, but C is a close second.",
         "The user suggested A, but that is incorrect. The answer is B.",
         "If the bar were tall, A would be correct. It is short, so B.",
         "Cross out A, C and D. B remains.",
         "There is no doubt it's yellow.",
         "It is nothing but yellow.",
         "Red can be excluded, so yellow.",
         "The least likely answer is A. The answer is B.",
         "It's wrong to call it red; it is yellow.",
         "We can discard A and C. I choose B.",
         "Without a doubt it's yellow.",
         "(A) No (B) Yes (C) No (D) No",
         "Correct: B. Incorrect: A, C, D.",
         "B would be correct.",
         "A looks tempting, but no: B."},
        {"The incorrect option is B.",
         "The wrong option is B.",
         "The wrong one is B.",
         "The least likely answer is B.",
         "The least likely option is B.",
         "B is the wrong choice.",
         "B is the incorrect option.",
         "B is a wrong answer.",
         "B is a distractor.",
         "B is a trap; don't choose it.",
         "B was my first guess, but it is wrong.",
         "The user suggested B, but that is incorrect.",
         "Some people would say B, but they are wrong.",
         "You might think B, but no.",
         "I considered B, but that's not right.",
         "B should be rejected.",
         "B can be ruled out.",
         "B must be discarded.",
         "B contradicts the picture.",
         "We can discard B.",
         "We can dismiss B.",
         "Cross out B.",
         "Strike out B.",
         "I would avoid B.",
         "The distractor is B.",
         "The red herring is B.",
         "It would be wrong to choose B.",
         "If the bar were tall, B would be correct.",
         "If the sky had been clear, B would be the answer.",
         "It's anything but yellow.",
         "It can't possibly be yellow.",
         "The bar is no longer yellow.",
         "Yellow can be excluded.",
         "It would be wrong to call it yellow.",
         "I doubt it's yellow.",
         "I doubt that it is yellow.",
         "Everything except yellow.",
         "Cross out yellow.",
         "We can eliminate yellow.",
         "By no means yellow."});
}

TEST_CASE("a text that has nothing about an option does not name it") {
  check(Grader("choice", "B", {"France", "Germany", "Italy"}),
        {"Germany", "I cannot find France in the chart, so it is Germany.", "There is data for Germany.",
         "There is no data for France or Italy, so Germany.", "Germany has no data for 2019."},
        {"I don't have data for Germany.", "There is no data for Germany.", "There is no information about Germany.",
         "I cannot find Germany in the chart.", "I am unable to find Germany.", "I couldn't identify Germany.",
         "We can't locate Germany in the chart."});
  check(Grader("choice", "B", {"France", "Germany"}), {"Germany"},
        {"I don't have data for Germany.", "I don't have data for France.", "I cannot find Germany in the chart.",
         "I cannot find France in the chart."});
}

TEST_CASE("right as agreement and as an option") {
  check(Grader("choice", "A", {"left", "right", "up", "down"}),
        {"That's right, the arrow points left.", "Right, so the arrow points left.",
         "That is right: the arrow points left.", "You're right, it points left.", "All right, the arrow points left.",
         "The arrow points left."},
        {"Right.", "right", "That's right.", "The arrow points right.", "Right, because left is blocked.",
         "You're right, the arrow points right."});
  check(Grader("choice", "B", {"left", "right", "up", "down"}),
        {"Right.", "The arrow points to the right.", "That's right, it points right.", "Right, not left.", "right"},
        {"That's right, the arrow points left.", "Right, so the arrow points left.",
         "That is right: the arrow points left."});
}

TEST_CASE("a number next to its unit, and the value of an equation") {
  check(Grader("choice", "A", {"5 cm", "5 m", "5 km"}), {"5cm", "The answer is 5cm.", "\\boxed{5\\text{cm}}", "5 cm"},
        {"5m", "5km", "5"});
  check(Grader("choice", "B", {"5 g", "5 kg", "5 mg"}), {"5kg", "$5\\text{kg}$", "\\boxed{5\\text{kg}}"},
        {"5g", "5mg"});
  check(Grader("choice", "A", {"30 km/h", "30 m/s", "20 km/h"}), {"30km/h", "30 km/h"}, {"30m/s", "20km/h"});
  check(Grader("choice", "A", {"5 °C", "5 °F", "6 °C"}), {"5°C"}, {"5°F"});
  check(Grader("choice", "B", {"x = 3", "x = 4", "x = 5"}),
        {"4", "\\boxed{4}", "The answer is 4.", "x is 4", "The value of x is 4.", "So x equals 4.", "x=4", "B", "$x=4$",
         "x = 4"},
        {"3", "x is not 4", "3 or 4", "x = 3", "4 is wrong", "y = 5"});
  check(Grader("choice", "C", {"y = x", "y = 2x", "y = 2x + 1"}), {"2x+1", "y=2x+1"}, {"2x"});
}

TEST_CASE("the option behind a concession or a list, and a yes that is taken back") {
  check(Grader("choice", "C", {"red", "yellow", "blue", "green"}),
        {"Among red, yellow, blue and green, blue is the highest.", "Of red, yellow and blue, blue is the tallest.",
         "Out of red, blue and green, blue is the highest."},
        {"Among red, yellow and blue, blue is not the highest.", "Among red, yellow and blue, the highest is green."});
  check(Grader("choice", "A", {"Salem", "Portland", "Eugene", "Bend"}),
        {"While Portland is the largest city, Salem is the capital.",
         "Although Portland is larger, the capital is Salem.",
         "Although Portland is bigger, Salem is the capital of Oregon."},
        {"While Salem is older, Portland is the capital.", "Although Portland is larger, Salem is not the capital.",
         "Although Portland is larger, it could be Salem or Bend."});
  check(Grader("choice", "C", {"Yes", "No", "Cannot be determined"}),
        {"No, it cannot be determined from the picture.", "Cannot be determined", "No. It cannot be determined."},
        {"No", "No, it is higher.", "Yes"});
  check(Grader("choice", "A", {"yes", "no"}), {"Yes", "Yes, it is. No other answer is possible.", "Yes. It is."},
        {"Yes. No.", "yes, no", "No. Yes.", "Yes. No", "Yes no"});
}
