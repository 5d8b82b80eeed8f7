// Numbers as models write them, a case a kind: what is behind or beside the answer, and texts that give none.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "env/answer_number.h"
#include "env/answer_text.h"

using namespace agon::env;

namespace {

struct Read {
  std::string response;
  std::string number;  // empty: none is read
};

void check(const std::vector<Read>& table) {
  for (const Read& row : table) {
    INFO(row.response);
    const auto number = read_number(answer_part(row.response).text);
    CHECK((number ? to_string(*number) : "") == row.number);
  }
}

}  // namespace

TEST_CASE("numbers: what checks an answer does not replace it") {
  check({{"x = 15\n\nVerification: 15 × 4 = 60 ✓.", "15"},
         {"There are 15 apples.\n\nCheck: 15 × 4 = 60", "15"},
         {"So each box holds **23** apples.\n\n(Check: 23 × 4 = 92.)", "23"},
         {"解得x=15。检验:4×15=60。", "15"},
         {"There are 4 dogs. Let me check again. So there are 5 dogs.", "5"}});
}

TEST_CASE("numbers: parts of a total, in lists, tables, behind commas and dashes") {
  check({{"There are 16 squares:\n\n* 9 small squares\n* 7 big squares", "16"},
         {"There are 6 birds in the image:\n\n1. A red one\n2. Two blue ones\n3. Three small ones", "6"},
         {"There are 12 animals.\n\n| Animal | Count |\n|---|---|\n| Cow | 5 |\n| Sheep | 7 |", "12"},
         {"Total: 6\nRed: 4\nGreen: 2", "6"},
         {"There are a total of 13 books: 5 on the left shelf and 8 on the right shelf.", "13"},
         {"There are 6 balls - 4 red and 2 green.", "6"},
         {"The total number of books is 13, with 5 on the left shelf and 8 on the right.", "13"},
         {"图中一共有5个人,其中3个是女性。", "5"},
         {"3 boxes with 2 balls each make 6 balls in total.", "6"},
         {"Let us count. If you have 3 apples and buy 2, then you have 5.", "5"},
         {"The total number of animals is 12.\n\nLet me know if you'd like a breakdown of the 3 kinds!", "12"}});
}

TEST_CASE("numbers: the last of several equations, where it concludes or computes") {
  check({{"So the answer is 100% − 75% = 25%.", "25"},
         {"Since ∠A = 35°, we have ∠B = 90° - 35° = 55°.", "55"},
         {"∠1 + ∠2 = 90°, ∠1 = 35°, so ∠2 = 55°.", "55"},
         {"x = 10 or x = -2. Since a length cannot be negative, x = 10.", "10"},
         {"Perimeter = 2(18+10) = 56 m; cost = 56 × 4 = $224.", "224"},
         {"\\begin{align*}\nAC^2 &= AB^2 + BC^2 \\\\\n&= 3^2 + 4^2 \\\\\n&= 25 \\\\\nAC &= 5\n\\end{align*}", "5"},
         {"120 / 18 = 6.67, which we round up to 7 boxes.", "7"},
         {"x = 3; y = 4", ""}});
}

TEST_CASE("numbers: a text that refuses or breaks off gives none") {
  check({{"I'm sorry, but the chart does not provide data for 2021.", ""},
         {"The answer cannot be determined because the scale only shows 12 marks.", ""},
         {"Final answer: N/A (only 5 labels are visible)", ""},
         {"5 + 3 = 8\n\n**Answer:** unknown", ""},
         {"Lo siento, no hay datos para 2020.", ""},
         {"I can't see all of them, but there are about 5.", "5"},
         {"The year is not specified. However, the total is 5.", "5"},
         {"First, 16 - 3 - 4 = 9 eggs are left.\n\nNext, we multiply this by the price per egg, which is", ""},
         {"Therefore, the answer is 10 +", ""},
         {"The answer is 12.\n\nHere is a breakdown:", "12"},
         {"Thomas is also unable to read the 3 labels.", ""},
         {"<think>The perimeter is 2*(10+12.5) = 45. Then the cost", ""},
         {"<think>2 + 3 = 5</think>", "5"}});
}

TEST_CASE("numbers: corrections") {
  check({{"The answer is 7.\n\nActually, looking closely, there is one more bird, so the correct count is 8.", "8"},
         {"Answer: 7\n\nWait, I need to recount. There are 8.", "8"},
         {"At first I thought the answer was 30, but it is in fact 32.", "32"},
         {"答案是7。等等,我数错了,应该是8。", "8"},
         {"30, no, wait \u2014 32.", "32"},
         {"Answer: 7. Wait: \u2248 8", "8"},
         {"My first count was 7; after recounting I get 8.", "8"},
         {"The question claims there are 12 cups, but I see 13.", "13"}});
}

TEST_CASE("numbers: denials, bounds, hedges and names are none") {
  check({{"$x \\neq 5$", ""},
         {"The student wrote 5, which is incorrect.", ""},
         {"It is false that there are 5 dogs.", ""},
         {"5명이 아닙니다.", ""},
         {"12 cm is wrong; it should be 14 cm.", "14"},
         {"至少有8个人。", ""},
         {"5人より多いです。", ""},
         {"12명 이상", ""},
         {"от 5 до 8 человек", ""},
         {"12 < x < 15", ""},
         {"12 (or possibly 13)", ""},
         {"Table 3 does not contain this information.", ""}});
}

TEST_CASE("numbers: years, ordinals, decimal commas and words in a sentence") {
  check({{"In 2015, 38.2% of adults smoked.", "38.2"},
         {"The 4th bar has a value of 37.", "37"},
         {"Das kostet 12,99 €.", "12.99"},
         {"Ответ: 3,5 км", "3.5"},
         {"₹1,500/-", "1500"},
         {"There are three zebras in the field.", "3"},
         {"Two people are in the image, one of whom is wearing a hat.", "2"},
         {"There are two or three dogs.", ""},
         {"At least three dogs are here.", ""}});
}
