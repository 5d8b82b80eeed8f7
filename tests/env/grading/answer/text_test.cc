// Texts as models write them. Each row: a grader, the responses that are right, and those that are wrong.
#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "env/grading/grader.h"
#include "graded_responses.h"

using namespace agon;
using namespace agon::env;
using namespace agon::test;

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

TEST_CASE("a correction that says what it is") {
  check(Grader("normalized", "cat"),
        {"The answer is dog. Wait, no, it's a cat.", "The answer is dog. Actually, it's a cat.",
         "Answer: dog. Wait, it's cat.", "dog. No, it's a cat.", "The answer is dog. Correction: it is a cat.",
         "The answer is cat. Actually, it's very common.", "The answer is cat. In fact, it is a pet."},
        {"The answer is cat. Wait, no, it's a dog.", "The answer is cat. Actually, it's a dog.",
         "Answer: cat. Wait, it's dog.", "cat. Sorry, it's a dog."});
  check(Grader("normalized", "Tokyo"),
        {"The answer is Tokyo. In fact, it is huge.", "The answer is Tokyo. Actually, it's the largest city in Japan."},
        {});
}

TEST_CASE("what the only sentence says of its subject") {
  const std::vector<std::tuple<const char*, const char*>> rows = {
      {"dog", "It is a dog."},
      {"dog", "It's a dog."},
      {"dog", "That's a dog."},
      {"dog", "I think the animal is a dog."},
      {"dog", "I believe it's a dog."},
      {"dog", "The animal appears to be a dog."},
      {"10:30", "The time is 10:30."},
      {"May 5, 2020", "The date is May 5, 2020."},
      {"J. K. Rowling", "The name is J. K. Rowling."},
      {"Washington, D.C.", "The capital is Washington, D.C."},
      {"not visible", "The sign is not visible."},
      {"blue", "The car is blue, not red."},
      {"Berlin", "Die Hauptstadt von Deutschland ist Berlin."},
      {"Madrid", "La capital de España es Madrid."},
      {"Paris", "La capitale de la France est Paris."},
      {"Roma", "La capitale è Roma."},
      {"dogs", "The animals are dogs."}};
  for (const auto& [gold, response] : rows) check({"normalized", gold}, {response}, {});
  check(Grader("normalized", "dog"), {},
        {"It is not a dog.", "It's not a dog.", "It is false that the animal is a dog.",
         "The animal is a cat. The second one is a dog, I guess.", "The wrong answer is dog.",
         "The cat is big, and the other one is a dog.", "I think it isn't a dog.", "The least likely animal is a dog.",
         "The question is whether it is a dog.", "I don't think it's a dog.", "The user thought it is a dog."});
  check(Grader("normalized", "Madrid"), {}, {"La capital no es Madrid."});
  check(Grader("normalized", "Berlin"), {}, {"Die Hauptstadt ist nicht Berlin."});
}
