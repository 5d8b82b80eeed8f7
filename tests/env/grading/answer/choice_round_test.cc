// Options and texts as models answer them, by kind: answers that take back, list, deny or conclude something.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "env/grading/grader.h"

using namespace agon;
using namespace agon::env;

namespace {

using Responses = std::vector<std::string>;
using Options = std::vector<std::string>;

void check_answers(const Grader& grader, const Responses& right, const Responses& wrong) {
  for (const std::string& response : right) {
    INFO(response << "\n" << grader.judge(response).why);
    CHECK(grader.judge(response).correct);
  }
  for (const std::string& response : wrong) {
    INFO(response << "\n" << grader.judge(response).why);
    CHECK_FALSE(grader.judge(response).correct);
  }
}

const Options kCities = {"Paris", "London", "Berlin", "Madrid"};
const Options kAnimals = {"dog", "cat", "horse", "rabbit"};

}  // namespace

TEST_CASE("answer round: letters that are denied or outweighed by another") {
  check_answers({"choice", "A", kCities},
                {"La réponse est A et non C.", "La respuesta es A y no C.", "A resposta é A e não C.",
                 "الإجابة هي A وليس C.", "The answer could be C, but it's more likely to be A.",
                 "C seems right at first, but the correct one is A.", "I said C earlier, but that's wrong: it's A.",
                 "If the question had asked for Germany, the answer would be C. It asks for France: A.",
                 "Between A and C, A is the better choice.", "Of all four, only A matches.",
                 "The answer is either B or A. The tower suggests A.", "A: tower.\nB: no bus.\n\n➡️ **A**"},
                {"La réponse est C et non A.", "La réponse est A et C.", "A oder C", "I think it's A or maybe D.",
                 "The answer appears to be A. However, considering the bus, B fits better."});
  check_answers({"choice", "C", kCities},
                {"The answer is C, but A is tempting.", "The answer is C. However, A is also close.",
                 "C is right, but A matches some of it too."},
                {});
}

TEST_CASE("answer round: options within the text of others, grades with signs, labels") {
  const Options colours = {"Red", "Green", "Dark green", "Blue"};
  check_answers({"choice", "Green", colours},
                {"I'd go with Green over Dark green.", "It is more of a green than a dark green.",
                 "Green. The leaf isn't dark enough to be called dark green.",
                 "\"Green\" and \"Dark green\" are close, but I would choose \"Green\"."},
                {"It is dark green.", "green or dark green"});
  check_answers(
      {"choice", "Dark green", colours},
      {"dark-green", "The leaf is green, more precisely dark green.", "It is green, rather dark: dark green."},
      {"It is green, not dark green.", "green and dark green"});
  check_answers({"choice", "A+", {"A+", "A-", "B+", "C"}}, {"A+", "The answer is A+."},
                {"A B+ in math and an A- in art. The question asks for math: B+."});
  check_answers({"choice", "square", {"square", "rectangle"}}, {"A. square"}, {"A. square B. rectangle"});
  check_answers({"choice", "(2, 3)", {"(2, 3)", "(-2, 3)", "(2, -3)"}}, {"(2,3)"}, {"(-2,3)", "(2,-3)"});
}

TEST_CASE("answer round: marks on options without letters") {
  check_answers({"choice", "cat", kAnimals},
                {"- [ ] dog\n- [x] cat\n- [ ] horse\n- [ ] rabbit", "☐ dog\n☑ cat\n☐ horse\n☐ rabbit",
                 "dog ❌\ncat ✅\nhorse ❌\nrabbit ❌", "- dog: no\n- cat: yes\n- horse: no\n- rabbit: no"},
                {"- [x] dog\n- [ ] cat", "dog ✅\ncat ❌", "- dog: yes\n- cat: yes\n- horse: no",
                 "- [ ] dog\n- [ ] horse\n- [ ] cat", "- dog: yes\n- cat: no"});
}

TEST_CASE("answer round: conclusions by an option's text") {
  check_answers(
      {"choice", "Berlin", kCities},
      {"It could be London or Berlin. Given the signs, it is most likely Berlin.",
       "I considered Paris and Madrid, but I'll go with Berlin.",
       "The flag is German and not that of Paris, so it's Berlin.",
       "Eliminating Paris, London and Madrid leaves Berlin.", "Candidates: Paris, Berlin.\n\nMost likely: Berlin",
       "The city shown is more likely Berlin than Paris."},
      {"It looks like Paris, so it's not Berlin.", "London or Paris? So it's Berlin or Paris.",
       "Paris has a tower. So is it Berlin?", "Paris or not, I cannot tell whether it's Berlin.",
       "Paris has a tower, so Berlin is out.", "Most likely: Madrid\nLess likely: Berlin",
       "Some say it's Berlin, others Paris.", "London, so Berlin can be ruled out."});
  check_answers({"choice", "Bob", {"Alice", "Bob", "Carol"}},
                {"Alice is taller than Carol, Bob is taller than Alice. So Bob is the tallest.",
                 "Alice: 3, Bob: 5, Carol: 4. The highest is Bob.", "Alice: 3, Bob: 5.\n\nHighest: Bob",
                 "Bob, since Alice and Carol are shorter.", "Bob is the tallest, followed by Alice."},
                {"Bob is not the tallest.", "The highest is Alice. The lowest is Bob.", "Bob: 3. Alice: 5. Carol: 4."});
}

TEST_CASE("answer round: the first sentence gives the option, the rest explains it") {
  check_answers(
      {"choice", "Berlin", kCities},
      {"The city is Berlin. Paris, London and Madrid don't have this gate.",
       "This is Berlin, the capital of Germany, unlike Paris.", "Berlin is my answer, though Madrid was tempting.",
       "The city is Berlin. It is not Paris, London or Madrid."},
      {"The first city is Berlin. The second is Paris.", "This could be Berlin. Paris does not have this gate.",
       "The city is Berlin. However, Paris does not fit either.", "Berlin has a gate. Paris has a tower.",
       "The city is Berlin. Wait, the bus is not that of London."});
  check_answers({"choice", "cat", kAnimals}, {"Es ist kein dog, sondern eine cat.", "C'est un cat et non un dog."},
                {"Es ist keine cat, sondern ein dog.", "Não é um cat"});
}

TEST_CASE("answer round: numbers and verdicts in other words") {
  check_answers({"choice", "Two", {"One", "Two", "Three"}}, {"2", "2."}, {"3", "2 or 3"});
  check_answers({"choice", "No", {"Yes", "No"}},
                {"Nein, das stimmt nicht.", "Não.", "Non, il n'y a pas de chien.", "Нет.", "いいえ", "Nope."},
                {"Ja.", "Oui, il y a un chien.", "Sí", "Да", "Nein, ja"});
  check_answers({"choice", "12 cm", {"10 cm", "12 cm", "14 cm"}}, {"14 cm is wrong; it should be 12 cm."},
                {"12 cm is wrong; it should be 14 cm."});
}

TEST_CASE("answer round: texts that are corrected, and what stands behind them") {
  for (const char* grader : {"normalized", "f1"})
    check_answers({grader, "blue"},
                  {"Answer: green? No, blue.", "Answer: green. Actually, blue.", "The answer is green, no wait, blue.",
                   "Blue 💙", "blue\n\nThe shirt has a blue color with white stripes."},
                  {"Answer: blue. Actually, green.", "Answer: blue? No, green.",
                   "blue\n\nThe shirt is actually more of a green."});
  check_answers({"normalized", "blue"}, {}, {"Blue ❌", "blue\ngreen", "green. Actually, blue or green."});
  check_answers({"normalized", "yes"}, {"Yes. Actually the sign says so twice.", "Yes. Actually, it is red."},
                {"Answer: yes. Actually, no."});
  check_answers({"normalized", "no"}, {"I compare them.\nNo, it is not."}, {});
  check_answers({"normalized", "Albert Einstein"}, {"Albert Einstein (1879-1955)"}, {"Isaac Newton (1879-1955)"});
}

TEST_CASE("answer round: a letter that ends the text, letters of formulas, numbered lines") {
  const Options changes = {"increases", "decreases", "remains constant", "is zero"};
  check_answers(
      {"choice", "B", changes},
      {"The field is $E = \\frac{V}{d}$, so it gets weaker.\n\n**B**",
       "Choice (C) would hold for a fixed charge, but here the voltage is fixed.\n\n**B**",
       "Option D is for a short circuit; here it stays open. **B**", "The field is $\\frac{V}{d}$. It decreases."},
      {"Since $\\frac{d}{dt}[\\text{flux}] > 0$, it increases.", "Given that P(B) = 0.3, and",
       "sin(B) is $\\frac{3}{5}$, so it remains constant."});
  check_answers({"choice", "4", {"1", "2", "3", "4"}},
                {"1. A bus\n2. A tram\n3. A bike\n4. A van\n\nSo there are 4 vehicles."},
                {"1. A bus\n2. A tram\n3. A bike\n\nSo there are 3 vehicles."});
  check_answers({"choice", "R", {"P", "Q", "R", "S"}}, {"The vertex with the largest angle is R.", "It's R.", "C"},
                {"It's P.", "The point is S."});
}

TEST_CASE("answer round: LaTeX functions, Greek letters and signs") {
  check_answers({"choice", "cos θ", {"sin θ", "cos θ", "-cos θ", "2 sin θ"}},
                {"\\boxed{\\cos\\theta}", "The answer is $\\cos\\theta$.", "$\\cos \\theta$"},
                {"Answer: $-\\cos\\theta$", "\\boxed{2\\sin\\theta}"});
  check_answers({"choice", "O(n log n)", {"O(n)", "O(log n)", "O(n log n)"}}, {"$O(n\\log n)$", "O(n \\log n)"},
                {"$O(\\log n)$"});
  check_answers({"choice", "A ∩ B", {"A ∪ B", "A ∩ B", "A − B"}}, {"\\boxed{A \\cap B}", "The region is $A \\cap B$."},
                {"\\boxed{A \\cup B}"});
}

TEST_CASE("answer round: what the text says something is, beside other options") {
  const Options planets = {"Jupiter", "Saturn", "Mars", "Venus"};
  check_answers({"choice", "Saturn", planets},
                {"It's Saturn. Jupiter also has rings, but they are faint.",
                 "The planet with the widest rings is Saturn. Jupiter is larger, Mars has none.",
                 "The sixth planet, after Mars and Jupiter, is that of the rings, Saturn, so it is Saturn.",
                 "At first it looks like Jupiter, but on closer inspection the planet is Saturn.",
                 "If today's planet is Mars, that of Friday will be Saturn.",
                 "Venus shines in the morning, while Saturn does not. The question asks for rings, so: Saturn.",
                 "Planet: Saturn (smaller than Jupiter)", "It is near Jupiter, but Saturn is the one with rings."},
                {"If the planet is Saturn, Mars is near.", "The planet is Saturn. Actually, Mars.",
                 "I cannot tell whether it is Saturn or Mars."});
  check_answers({"choice", "left", {"left", "right", "above"}},
                {"The cup is to the left of the plate, not to the right."},
                {"It is to the right of it, not to the left."});
  check_answers({"choice", "爱迪生", {"牛顿", "爱迪生", "伽利略"}}, {"发明电灯的是爱迪生,而牛顿提出了定律。"},
                {"抱歉,无法判断是牛顿还是爱迪生。"});
}

TEST_CASE("answer round: a yes or no that a text takes back, and short answers in sentences") {
  for (const char* grader : {"normalized", "choice"}) {
    const Options options = std::string(grader) == "choice" ? Options{"Yes", "No"} : Options{};
    check_answers({grader, "No", {options}},
                  {"Yes, they are equal. Actually, no, the second is longer.",
                   "Answer: Yes. Wait, I should check: the second is longer. Actually, no.",
                   "Answer: Yes. Wait, the second line is longer. So no."},
                  {"Yes. No other answer is possible."});
  }
  check_answers({"normalized", "yes"}, {"Both have 5 bars and the same height. Yes."}, {"Both have 5 bars. No."});
  check_answers(
      {"normalized", "Mount Elbrus"},
      {"Mount Elbrus (5,642 m)", "Mount Elbrus, who some call a volcano.", "The mountain shown is Mount Elbrus."},
      {"The mountain shown is not Mount Elbrus."});
}
