// Numbers as models write them, one case per kind: text after or next to the answer, and texts without a number.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "env/grading/answer/number/meant.h"
#include "env/grading/answer/part.h"

using namespace agon::env;

namespace {

struct Read {
  std::string response;
  std::string number;  // empty: none is read
};

void check_numbers(const std::vector<Read>& table) {
  for (const Read& row : table) {
    INFO(row.response);
    const auto number = read_number(answer_part(row.response).text);
    CHECK((number ? to_string(*number) : "") == row.number);
  }
}

}  // namespace

TEST_CASE("numbers: what checks an answer does not replace it") {
  check_numbers({{"x = 15\n\nVerification: 15 × 4 = 60 ✓.", "15"},
                 {"There are 15 apples.\n\nCheck: 15 × 4 = 60", "15"},
                 {"So each box holds **23** apples.\n\n(Check: 23 × 4 = 92.)", "23"},
                 {"解得x=15。检验:4×15=60。", "15"},
                 {"There are 4 dogs. Let me check again. So there are 5 dogs.", "5"}});
}

TEST_CASE("numbers: parts of a total, in lists, tables, behind commas and dashes") {
  check_numbers(
      {{"There are 16 squares:\n\n* 9 small squares\n* 7 big squares", "16"},
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
  check_numbers(
      {{"So the answer is 100% − 75% = 25%.", "25"},
       {"Since ∠A = 35°, we have ∠B = 90° - 35° = 55°.", "55"},
       {"∠1 + ∠2 = 90°, ∠1 = 35°, so ∠2 = 55°.", "55"},
       {"x = 10 or x = -2. Since a length cannot be negative, x = 10.", "10"},
       {"Perimeter = 2(18+10) = 56 m; cost = 56 × 4 = $224.", "224"},
       {"\\begin{align*}\nAC^2 &= AB^2 + BC^2 \\\\\n&= 3^2 + 4^2 \\\\\n&= 25 \\\\\nAC &= 5\n\\end{align*}", "5"},
       {"120 / 18 = 6.67, which we round up to 7 boxes.", "7"},
       {"x = 3; y = 4", ""}});
}

TEST_CASE("numbers: a text that refuses or breaks off gives none") {
  check_numbers({{"I'm sorry, but the chart does not provide data for 2021.", ""},
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
  check_numbers(
      {{"The answer is 7.\n\nActually, looking closely, there is one more bird, so the correct count is 8.", "8"},
       {"Answer: 7\n\nWait, I need to recount. There are 8.", "8"},
       {"At first I thought the answer was 30, but it is in fact 32.", "32"},
       {"答案是7。等等,我数错了,应该是8。", "8"},
       {"30, no, wait \u2014 32.", "32"},
       {"Answer: 7. Wait: \u2248 8", "8"},
       {"My first count was 7; after recounting I get 8.", "8"},
       {"The question claims there are 12 cups, but I see 13.", "13"}});
}

TEST_CASE("numbers: denials, bounds, hedges and names are none") {
  check_numbers({{"$x \\neq 5$", ""},
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
  check_numbers({{"In 2015, 38.2% of adults smoked.", "38.2"},
                 {"The 4th bar has a value of 37.", "37"},
                 {"Das kostet 12,99 €.", "12.99"},
                 {"Ответ: 3,5 км", "3.5"},
                 {"₹1,500/-", "1500"},
                 {"There are three zebras in the field.", "3"},
                 {"Two people are in the image, one of whom is wearing a hat.", "2"},
                 {"There are two or three dogs.", ""},
                 {"At least three dogs are here.", ""}});
}

TEST_CASE("numbers: what says when, where or of what is not the answer") {
  check_numbers({{"After 6 years the tree will be 19 feet tall.", "19"},
                 {"For 8 people you need 14 cups of flour.", "14"},
                 {"At 25°C the solubility is 38 g per 100 g of water.", "38"},
                 {"The plant needs 9 hours to make 540 parts at 60 parts per hour.", "9"},
                 {"Of the 11 balloons, 5 are red.", "5"},
                 {"She can bake 13 loaves with 2 cups left over.", "13"},
                 {"From 2004 to 2011 the share rose by 17.", "17"},
                 {"In the 30-44 age group, 63% own one.", "63"},
                 {"Between 3 and 5 seconds it covers 16 meters.", "16"},
                 {"In 2018, 15 million tonnes were sold, compared with 12 million tonnes in 2017.", "15000000"},
                 {"Norway leads with 39 medals, followed by Italy with 28.", "39"},
                 {"He earned $470 this week, up from $390 last week.", "470"},
                 {"The coat costs $65 instead of $90.", "65"},
                 {"Ben has 21 marbles, 7 more than Ada.", "21"},
                 {"Kids younger than 10 pay $4.", "4"},
                 {"Therefore the 5 cousins together have 85 stamps.", "85"},
                 {"There are 9 pears, 3 of which are ripe.", "9"},
                 {"So the total is $0.85, or 85 cents.", "0.85"},
                 {"It accounts for 0.45 (45%) of the sum.", "0.45"},
                 {"Bus 14 departs 25 minutes late.", "25"},
                 {"Covid-19 caused 1,300 deaths there.", "1300"},
                 {"The iPhone 11 sold 90 million units.", "90000000"},
                 {"Im Jahr 2014 betrug der Anteil 24,5 %.", "24.5"},
                 {"2018年的销售额为450万元。", "4500000"},
                 {"The price peaked in 2011 at 2.5 billion.", "2500000000"},
                 {"1 in 4", ""},
                 {"12, or 13", ""},
                 {"12 (or maybe 13)", ""}});
}

TEST_CASE("numbers: where a function takes a value is not the value") {
  check_numbers({{"So the minimum value is $-7$, attained at $x = 3$.", "-7"},
                 {"The maximum of $f(x)$ is $8$ at $x = 2$.", "8"},
                 {"When x = 4, y = 11.", "11"},
                 {"综上所述,最大值为 12,当 x=5 时取得。", "12"},
                 {"The maximum occurs at x = 5.", "5"},
                 {"x = 6 when y = 2.", "6"}});
}

TEST_CASE("numbers: conclusions behind a comma, in words, rounded, or said again") {
  check_numbers({{"Thus x + 20 = 75, which gives x = 55.", "55"},
                 {"3y = 27, from which y = 9.", "9"},
                 {"Mia has 4 times as many cards as Leo, which is 32.", "32"},
                 {"It takes 6.5 trips, so 7 trips are needed.", "7"},
                 {"3/4 of the cake was eaten, so 1/4 is left.", "0.25"},
                 {"The final answer is 8.3, which we round up to 9 buses.", "9"},
                 {"The result is 33.33, or about 33 when rounded.", "33"},
                 {"The first has 4, the second 3 and the third 6. Therefore the total number is thirteen.", "13"},
                 {"490 / 70 = 7\n\nThe van takes 7 hours for 490 km and 2 stops.", "7"},
                 {"We begin with 9 cubes. Without 3 there are 6. Without 2 more, 4 remain.", "4"},
                 {"There are two dogs, one on the sofa and one on the floor.", "2"},
                 {"There are no cars in the picture.", "0"},
                 {"There are no data in the chart.", ""},
                 {"9.\n9.\n9.", "9"},
                 {"US$3.5m", "3500000"}});
}

TEST_CASE("numbers: notes, first guesses and refusals") {
  check_numbers({{"The sum is 190.\n\n*Note: this assumes that all 5 shops are open.*", "190"},
                 {"The value is 44%. This is higher than the 37% of Spain.", "44"},
                 {"One might think the answer is 14, but the axis starts at 6, so the value is 8.", "8"},
                 {"It may look like the answer is 14, but the actual value is 8.", "8"},
                 {"Unable to answer: the legend only covers 4 groups.", ""},
                 {"There is not enough information to determine it. We only know there are 15 in all.", ""},
                 {"The picture is too blurry to count. Please send one of 300 dpi.", ""},
                 {"至少需要 6 人。", ""},
                 {"Could be 15. Could be 16.", ""}});
}

TEST_CASE("numbers: parts in other languages, peaks, and none of them") {
  check_numbers({{"Il y a 6 chats, dont 3 noirs.", "6"},
                 {"Es gibt 6 Katzen, davon sind 3 schwarz.", "6"},
                 {"Es gibt 6 Katzen. Davon sind 3 schwarz.", "6"},
                 {"Hay 6 gatos, de los cuales 3 son negros.", "6"},
                 {"Ci sono 6 gatti, di cui 3 neri.", "6"},
                 {"Há 6 gatos, dos quais 3 são pretos.", "6"},
                 {"Всего 6 кошек, из них 3 чёрные.", "6"},
                 {"猫は6匹いて、そのうち3匹は黒いです。", "6"},
                 {"猫は全部で6匹います。うち3匹は黒です。", "6"},
                 {"고양이는 6마리이고 그중 3마리는 검은색입니다.", "6"},
                 {"Có 6 con mèo, trong đó 3 con màu đen.", "6"},
                 {"يوجد 6 قطط، منها 3 سوداء.", "6"},
                 {"कुल 6 बिल्लियाँ हैं, जिनमें से 3 काली हैं।", "6"},
                 {"Il y a 6 chats. Parmi eux, 3 sont noirs.", "6"},
                 {"The line reaches a maximum of 45 in 2010.", "45"},
                 {"Sales fell to a minimum of 12.", "12"},
                 {"A maximum of 45 was reached in 2010", "45"},
                 {"The minimum of 3 cm was recorded in March.", "3"},
                 {"A maximum of 45 guests was invited", ""},
                 {"36 + 4 = 40 = 4 × 10", "40"},
                 {"36.2 + 4 ≈ 40 = 4 × 10", "40"},
                 {"3 * 8 = 24 = 2 * 12.", "24"},
                 {"12 = 3 × 4", ""},
                 {"There are a maximum of 45.", ""},
                 {"None.", "0"},
                 {"None of the 5 bars is above 10.", "0"},
                 {"The image shows no dogs.", "0"},
                 {"The image contains no information on 5 dogs.", ""}});
}
