// Numbers as models write them. Each row: a grader, the responses that are right, and those that are wrong.
#include <catch2/catch.hpp>

#include "core/error.h"
#include "env/grading/grader.h"
#include "graded_responses.h"

using namespace agon;
using namespace agon::env;
using namespace agon::test;
using Catch::Contains;

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

TEST_CASE("numbers that are called the wrong answer or taken back") {
  check(Grader("number", 5), {"5 is the right answer.", "There are 5 cats, but no dogs."},
        {"5 is the wrong answer.", "5 is a wrong answer.", "It's impossible that there are 5.",
         "5 was my first guess, but it is wrong."});
}

TEST_CASE("roots and π behind a fraction are not below its line") {
  check(Grader("number", "\\pi/2"),
        {"\\frac{1}{2}\\pi", "\\frac12\\pi", "½π", "1/2 * π", "\\frac{1}{2}\\cdot\\pi", "\\dfrac{1}{2}\\,\\pi",
         "The area is \\(\\frac{1}{2}\\pi\\).", "\\frac{\\pi}{2}"},
        {"\\frac{1}{2\\pi}", "1/2π", "2π"});
  check(Grader("number", "\\sqrt{3}/2"), {"\\frac{1}{2}\\sqrt{3}", "½√3", "1/2 × √3"}, {"\\frac{1}{2\\sqrt{3}}"});
  check(Grader("number", "3\\pi/2"), {"1\\frac{1}{2}\\pi", "1½π", "\\frac32 \\pi"}, {"1.5"});
}

TEST_CASE("numbers in formulas with variables are no answer") {
  check({"number", 3}, {"x = 3", "3x", "3 cm/s", "3/h", "3 - a good number", "3 x-rays"},
        {"The answer is x + 3.", "3 - x", "3(x+1)", "3x^2", "3ab", "y = 3x", "f(x) = 3x", "y = x + 3", "x/3", "3/x",
         "\\frac{x}{3}", "\\frac{3}{y}", "3 + 2x", "x^2 + 3", "n - 3", "\\log_2 3", "g(t) = t + 3", "3(n - 1)"});
}

TEST_CASE("a currency makes a comma with two digits a decimal comma") {
  check({"number", 12.99},
        {"EUR12,99", "USD12,99", "EUR 12,99", "€ 12,99", "€12,99", "£12,99", "R$ 12,99", "12,99 zł", "12,99 Kč",
         "12,99 kr", "12,99 руб.", "The price is CHF12,99.", "The price is €12,99.", "$12{,}99$"},
        {"12,99", "EUR99"});
  check({"number", 12.5}, {"$12{,}5$", "\\boxed{12{,}5}"}, {"125"});
  check({"number", 12500}, {"12{,}500", "$12,500"}, {});
}

TEST_CASE("a text that gives no answer holds none, whatever it counts") {
  check({"number", 5}, {"I see 5 dogs, but I cannot tell whether there are more.", "There are 5 dogs. The value is 5."},
        {"Only 5 bars are visible, so I cannot determine the total.",
         "The data for 5 countries is missing, so the value cannot be determined.",
         "I can see 5 bars, but I can't tell how many dogs there are.",
         "There are 5 bars, but the value for Italy is not given.", "I am GPT-5 and cannot answer.",
         "There are 5 bars. I cannot tell which one is Italy.", "The figure has 5 panels. The value is not shown.",
         "It's impossible that there are 5."});
  check({"number", 0},
        {"No dogs.", "I see no dogs.", "No dogs are visible.", "I don't see any dogs.", "There aren't any dogs."},
        {"No.", "No idea.", "No data.", "No, dogs."});
}

TEST_CASE("words that conclude, in several languages") {
  check({"number", 5},
        {"Dividing 10 by 2 yields 5.", "10 ÷ 2 results in 5", "黑色3只，白色2只，一共5只。",
         "3 noirs et 2 blancs, soit 5 chiens.", "3 schwarze plus 2 weiße ergibt 5.", "3 чёрных и 2 белых, итого 5.",
         "不是4而是5。"},
        {});
}
