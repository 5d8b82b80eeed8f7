#include "env/grading/grader.h"
#include "env/grading/published_rules.h"
#include "env/grading/single_rules.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "choice_letter.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "effort.h"
#include "paths.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

TEST_CASE("normalisation and token F1 equal Python's rules") {
  const Json golden = Json::parse(read_file(agon::test::golden_path("graders/texts.json")));
  for (const Json& text : golden["texts"]) {
    INFO(text.dump());
    const std::string answer = text["answer"], gold = text["gold"];
    CHECK(normalize_answer(answer) == text["normal"].get<std::string>());
    CHECK(token_f1(answer, gold, Overlap::set) == Approx(text["f1"].get<double>()));
    CHECK(token_f1(answer, gold, Overlap::multiset) == Approx(text["f1_multiset"].get<double>()));
  }
}

TEST_CASE("repeated tokens lower the F1 of sets, not of multisets") {
  CHECK(token_f1("red red", "red red", Overlap::set) == 0.5);
  CHECK(token_f1("red red", "red red", Overlap::multiset) == 1);
  CHECK(token_f1("", "red") == 0);
  CHECK(token_f1("", "") == 0);
}

TEST_CASE("exact and normalised matches") {
  CHECK(exact_match(" Cat\n", "Cat"));
  CHECK_FALSE(exact_match("cat", "Cat"));
  CHECK(normalized_match("The  cat!", "cat"));
  CHECK_FALSE(normalized_match("cats", "cat"));
}

TEST_CASE("numbers are read in the forms that people write") {
  const std::vector<std::pair<std::string, double>> numbers = {{"7", 7},
                                                               {" 7. ", 7},
                                                               {"-7.25", -7.25},
                                                               {"+3", 3},
                                                               {".5", 0.5},
                                                               {"-.5", -0.5},
                                                               {"1e3", 1000},
                                                               {"2.5E-2", 0.025},
                                                               {"1e+2", 100},
                                                               {"1,234", 1234},
                                                               {"12,345,678.9", 12345678.9},
                                                               {"$5", 5},
                                                               {"-$5.50", -5.5},
                                                               {"$5$", 5},
                                                               {"\\$1,000", 1000},
                                                               {"50%", 50},
                                                               {"50 \\%", 50},
                                                               {"12 cm", 12},
                                                               {"12cm.", 12},
                                                               {"30°", 30},
                                                               {"9.8 m/s^2", 9.8},
                                                               {"3 apples", 3},
                                                               {"1/2", 0.5},
                                                               {"-3 / 4", -0.75},
                                                               {"3/4 cups", 0.75},
                                                               {"\\boxed{42}", 42},
                                                               {"so \\boxed{1,000}", 1000},
                                                               {"\\frac{1}{4}", 0.25},
                                                               {"-\\dfrac{3}{2}", -1.5},
                                                               {"$\\boxed{\\frac{1}{2}}$", 0.5},
                                                               {"\u22125", -5},
                                                               {"007", 7},
                                                               {"1234,", NAN},
                                                               {"5e", 5}};
  for (const auto& [text, value] : numbers) {
    INFO(text);
    const auto number = parse_number(text);
    if (std::isnan(value)) {
      CHECK_FALSE(number);
      continue;
    }
    REQUIRE(number);
    CHECK(*number == Approx(value));
  }
  for (const char* text : {"",          " ",
                           "abc",       "-",
                           ".",         "$",
                           "nan",       "inf",
                           "-inf",      "infinity",
                           "0x10",      "1e999",
                           "1,23",      "1234,567",
                           "12,3456",   "1 2",
                           "5 + 3",     "3 and 4",
                           "12:30",     "3-4",
                           "5^2",       "1/0",
                           "1/",        "/2",
                           "1/2/3",     "\\frac{1}{0}",
                           "\\frac{1}", "\\frac{a}{2}",
                           "1.2.3",     "two",
                           "--5",       "5 out of 6",
                           "\\boxed{}", "1e400/1"}) {
    INFO(text);
    CHECK_FALSE(parse_number(text));
  }
}

TEST_CASE("numbers match within a relative or an absolute tolerance") {
  CHECK(number_match("0.5", "1/2"));
  CHECK_FALSE(number_match("1000000.5", "1000000"));  // whole numbers are equal exactly
  CHECK(number_match("1000000.5", "1000000.4"));
  CHECK_FALSE(number_match("1000002", "1000000"));
  CHECK_FALSE(number_match("1e-10", "0"));
  CHECK(number_match("1e-10", "0", Tolerance{0, 1e-9}));
  CHECK_FALSE(number_match("0.01", "0"));
  CHECK(number_match("105", "100", Tolerance{0.05}));
  CHECK_FALSE(number_match("106", "100", Tolerance{0.05}));
  CHECK(number_match("four", "4"));
  CHECK_FALSE(number_match("five", "4"));
}

TEST_CASE("a choice is a letter or an option's text, when only one fits") {
  const std::vector<std::string> options = {"cat", "black dog", "dog", "a cat and a dog"};
  const std::vector<std::pair<std::string, char>> choices = {{"B", 'B'},
                                                             {"b", 'B'},
                                                             {" (b) ", 'B'},
                                                             {"B.", 'B'},
                                                             {"[B]", 'B'},
                                                             {"**B**", 'B'},
                                                             {"B) black dog", 'B'},
                                                             {"(C) dog", 'C'},
                                                             {"c: dog", 'C'},
                                                             {"The answer is B", 'B'},
                                                             {"the answer is (a).", 'A'},
                                                             {"Answer: D", 'D'},
                                                             {"I choose C because it barks", 'C'},
                                                             {"dog", 'C'},
                                                             {"The Dog.", 'C'},
                                                             {"it is a black dog", 'B'},
                                                             {"Black dog", 'B'},
                                                             {"it must be the cat", 'A'},
                                                             {"A cat and a dog", 'D'},
                                                             {"A", 'A'},
                                                             {"It is option A, surely", 'A'}};
  for (const auto& [answer, letter] : choices) {
    INFO(answer);
    CHECK(choice_letter(answer, options) == letter);
  }
  for (const char* answer : {"", "E", "(E)", "B or C", "(A) or (B)", "neither", "?", "e.", "A horse"}) {
    INFO(answer);
    CHECK_FALSE(choice_letter(answer, options));
  }
  CHECK(choice_letter("Z", {}) == 'Z');
  CHECK(choice_letter("the answer is G", {}) == 'G');
  CHECK_FALSE(choice_letter("it", {}));
}

TEST_CASE("graders by name") {
  CHECK(Grader("exact", "cat").grade("cat ") == 1);
  CHECK(Grader("exact", 7).grade("7") == 1);
  CHECK(Grader("exact", {"cat", "dog"}).grade("dog") == 1);
  CHECK(Grader("normalized", "The Cat").grade("cat!") == 1);
  CHECK(Grader("number", 0.5).grade("50/100") == 1);
  CHECK(Grader("number", {"3", "4"}).grade("4.0") == 1);
  CHECK(Grader("number", 4).grade("cat") == 0);
  CHECK(Grader("choice", "B", {"x", "y"}).grade("(B)") == 1);
  CHECK(Grader("choice", "y", {"x", "y"}).grade("B") == 1);
  CHECK(Grader("choice", "B", {"x", "y"}).grade("x") == 0);
  CHECK(Grader("f1", "red cat").grade("red dog") == 0.5);
  CHECK(Grader("f1_multiset", "red red").grade("red red") == 1);
  CHECK(Grader("iou", {0, 0, 10, 10}).grade("[0,0,10,5]") == 0.5);
  CHECK(Grader("iou", "[0,0,10,10]").grade("no box") == 0);
  CHECK(Grader("giou", {0, 0, 10, 10}).grade("[90,90,100,100]") == 0);  // negative, clipped
  CHECK(Grader("ciou", {0, 0, 10, 10}).grade("[0,0,10,10]") == 1);
  const Grader inside("point_in_box", {10, 10, 20, 20});
  for (const char* point :
       {"[10,20]", "(15, 15)", "CLICK <point>[[15,15]]</point>", "[0,0,30,30]", "it is at [12, 12]."})
    CHECK(inside.grade(point) == 1);
  for (const char* point :
       {"[9,15]", "15,25", "", "[", "(15", "CLICK <point>[[25,15]]</point>", "[0,0,10,10]", "[nan,nan]"})
    CHECK(inside.grade(point) == 0);
  CHECK(Grader("gui_step", "CLICK <point>[[500,500]]</point>").grade("CLICK <point>[[600,500]]</point>") == 1);
  CHECK(Grader("gui_step", "WAIT").grade("wait") == 0);
}

TEST_CASE("when a reward counts as right") {
  const Json box = {0, 0, 1, 1};
  CHECK(Grader("iou", box).correct(0.5));
  CHECK_FALSE(Grader("iou", box).correct(0.49));
  CHECK(Grader("f1", "x").correct(0.5));
  CHECK_FALSE(Grader("f1", "x").correct(0.49));
  CHECK(Grader("exact", "x").correct(1));
  CHECK_FALSE(Grader("exact", "x").correct(0.99));
}

TEST_CASE("a grader that cannot be is an error") {
  CHECK_THROWS_WITH(Grader("exakt", "x"), Contains("exakt") && Contains("Did you mean 'exact'?"));
  CHECK_THROWS_WITH(Grader("number", "many"), Contains("many") && Contains("number"));
  CHECK_THROWS_WITH(Grader("choice", "B"), Contains("options"));
  CHECK_THROWS_WITH(Grader("choice", "C", {"x", "y"}), Contains("2 options"));
  CHECK_THROWS_WITH(Grader("choice", 2, {"x", "y"}), Contains("2"));
  CHECK_THROWS_WITH(Grader("iou", {1, 2, 3}), Contains("[1,2,3]"));
  CHECK_THROWS_WITH(Grader("iou", {1, 1, 1, 5}), Contains("area"));
  CHECK_THROWS_WITH(Grader("gui_step", "TAP"), Contains("TAP"));
  CHECK_THROWS_AS(Grader("exact", nullptr), Error);
  CHECK_THROWS_AS(Grader("exact", Json::array()), Error);
  CHECK_THROWS_AS(Grader("exact", {{"a", 1}}), Error);
  CHECK_THROWS_AS(Grader("number", std::string("\xff")), Error);
}

TEST_CASE("grading never throws and stays in [0, 1]") {
  Rng rng(5);
  const std::vector<std::string> pieces = {"[", "]",        "(", ")",       ",",  "1",     "1e308", "-",
                                           "/", "\\boxed{", "}", "\\frac{", "}{", "A",     "b",     " ",
                                           ".", "%",        "$", "\xff",    "é",  "CLICK", "the",   "\n"};
  const std::vector<Grader> graders = {{"exact", "x"},         {"normalized", "x"},
                                       {"number", 3},          {"choice", "A", {"x", "b"}},
                                       {"f1", "a b c"},        {"f1_multiset", "b b"},
                                       {"iou", {0, 0, 9, 9}},  {"giou", {0, 0, 9, 9}},
                                       {"ciou", {0, 0, 9, 9}}, {"point_in_box", {0, 0, 9, 9}},
                                       {"gui_step", "WAIT"}};
  for (int i = 0; i < test::rounds(3000); ++i) {
    std::string answer;
    for (int n = rng.between(0, 10); n > 0; --n) answer += rng.pick(pieces);
    for (const Grader& grader : graders) {
      const double reward = grader.grade(answer);
      INFO(answer);
      REQUIRE((reward >= 0 && reward <= 1));
    }
  }
}

TEST_CASE("exact match and F1 of MAT: sets, the best gold, and an exact match is F1 1") {
  CHECK(score_answer("The Red, car.", {"red car"}).exact);
  CHECK(score_answer("The Red, car.", {"red car"}).f1 == 1);
  CHECK(score_answer("a b b", {"b b b"}).f1 == Approx(2.0 * 1 / 5));  // "a" is an article
  CHECK(score_answer("b b", {"b b"}).f1 == 1);                        // not 0.5, since it is exact
  CHECK(score_answer("new york city", {"york", "new york"}).f1 == Approx(0.8));
  CHECK_FALSE(score_answer("new york city", {"york", "new york"}).exact);
  CHECK(score_answer("x", {}).f1 == 0);
  CHECK(score_answer("", {"x"}).f1 == 0);
  CHECK_FALSE(score_answer("", {"The The"}).exact);  // both are empty after normalisation
  CHECK_FALSE(score_answer("a", {"The The"}).exact);
  CHECK(score_answer("The The", {"The The"}).exact);
}

TEST_CASE("MAT-Coding's scores go by characters where there is Chinese") {
  const auto score = [](const std::string& answer, const std::string& gold) {
    return score_answer(answer, {gold}, ScoreRule::mat_coding);
  };
  CHECK(score("红色汽车。", "红色汽车").exact);
  CHECK(score("红色", "红色汽车").f1 == Approx(2.0 / 3));  // 2 of 2 and 2 of 4 characters
  CHECK(score_answer("红色", {"红色汽车"}).f1 == 0);       // by words
  CHECK(score("The Red car！", "red car").exact);
  CHECK(score("red", "red car").f1 == Approx(2.0 / 3));
  CHECK(score("\xff红", "红").f1 > 0);
}
