#include "critic/reward_model/preference.h"
#include "core/file.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "core/pictures/image.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::critic;
using Catch::Contains;

namespace {

std::vector<Preference> read(const test::TempFolder& folder, const std::string& lines) {
  const auto file = folder / "sets.jsonl";
  write_file_atomically(file.string(), lines);
  return read_preferences(file);
}

std::string record_line(const std::string& responses, const std::string& rank) {
  return R"({"id": "x", "prompt": "p", "responses": )" + responses + R"(, "rank": )" + rank + "}\n";
}

}  // namespace

TEST_CASE("preferences: written and read they are the same, pictures too") {
  const test::TempFolder folder;
  const Image picture(2, 1, {1, 2, 3, 4, 5, 6});
  const Preference one{
      "a/1",
      "charts",
      {Message::of(Role::system, "Look."), {Role::user, {Part::of(picture), Part::of("How many?")}, {}, {}}},
      {"seven", "e\xCC\x81ight\n\n<answer>8</answer>", ""},
      {2, 1, 2}};
  Preference other = one;
  other.id = "a/2";
  write_preferences(folder / "out/preferences.jsonl", {one, other});
  const std::vector<Preference> back = read_preferences(folder / "out/preferences.jsonl");
  REQUIRE(back.size() == 2);
  CHECK(back[1].id == "a/2");
  CHECK(back[1].category == "charts");
  REQUIRE(back[1].messages.size() == 2);
  CHECK(back[1].messages[0].text() == "Look.");
  CHECK(back[1].messages[1].parts.at(0).image == picture);
  CHECK(back[1].messages[1].text() == "How many?");
  CHECK(back[1].responses == one.responses);
  CHECK(back[1].rank == one.rank);
}

TEST_CASE("preferences: bytes that are no text do not break the file") {
  const test::TempFolder folder;
  write_preferences(folder / "p.jsonl", {{"a", "c", {Message::of(Role::user, "p")}, {"\xff", "b"}, {1, 2}}});
  CHECK(read_preferences(folder / "p.jsonl").at(0).responses.at(0) == "\xEF\xBF\xBD");
}

TEST_CASE("preferences: ranks may have ties and gaps, and begin anywhere") {
  const test::TempFolder folder;
  CHECK(read(folder, record_line(R"(["a", "b", "c", "d"])", "[1, 1, 3, 4]"))[0].rank == std::vector<int>{1, 1, 2, 3});
  CHECK(read(folder, record_line(R"(["a", "b"])", "[1, 0]"))[0].rank == std::vector<int>{2, 1});
  CHECK(read(folder, record_line(R"(["a", "b"])", "[5, 5]"))[0].rank == std::vector<int>{1, 1});
  CHECK(read(folder, record_line(R"(["a", "b"])", "[1, 0]"))[0].category == "sets");
}

TEST_CASE("preferences: a set without a name is called after its line") {
  const test::TempFolder folder;
  const std::string nameless = R"({"prompt": "p", "responses": ["a", "b"], "rank": [1, 2]})";
  const std::vector<Preference> sets = read(folder, nameless + "\n" + R"({"id": 7, )" + nameless.substr(1));
  CHECK((sets[0].id.ends_with(":1") && sets[1].id == "7"));
}

TEST_CASE("preferences: what is no record is refused with its place") {
  const test::TempFolder folder;
  const std::string good = record_line(R"(["a", "b"])", "[1, 2]");
  CHECK_THROWS_WITH(read(folder, good + record_line(R"(["a", "b"])", "[1]")),
                    Contains(".jsonl:2: 'rank' has 1 entries for 2"));
  CHECK_THROWS_WITH(read(folder, record_line(R"(["a"])", "[1]")), Contains("two or more"));
  CHECK_THROWS_WITH(read(folder, record_line(R"(["a", 3])", "[1, 2]")), Contains("must hold texts"));
  CHECK_THROWS_WITH(read(folder, record_line(R"(["a", "b"])", "[1, 1.5]")), Contains("whole numbers"));
  for (const char* large : {"2147483648", "-2147483649", "18446744073709551615"})
    CHECK_THROWS_WITH(read(folder, record_line(R"(["a", "b"])", "[1, " + std::string(large) + "]")),
                      Contains("32-bit numbers, got " + std::string(large)));
  CHECK(read(folder, record_line(R"(["a", "b"])", "[2147483647, -2147483648]"))[0].rank == std::vector<int>{2, 1});
  CHECK_THROWS_WITH(read(folder, R"({"prompt": "p", "image": "x.png", "responses": ["a", "b"], "rank": [1, 2]})"),
                    Contains("unknown key 'image': give 'images'"));
  CHECK_THROWS_WITH(read(folder, R"({"prompt": "p", "response": ["a", "b"], "rank": [1, 2]})"),
                    Contains("give 'responses'"));
  CHECK_THROWS_WITH(read(folder, R"({"id": "x", "prompt": "p", "responses": ["a", "b"]})"),
                    Contains("'rank' must be a list"));
  CHECK_THROWS_WITH(read(folder, R"({"responses": ["a", "b"], "rank": [1, 2]})"), Contains("neither a 'prompt' nor"));
  CHECK_THROWS_WITH(read(folder, R"({"prompt": 5, "responses": ["a", "b"], "rank": [1, 2]})"),
                    Contains("\"prompt\" is 5, not a text"));
  CHECK_THROWS_WITH(read(folder, "{oops\n"), Contains(":1: not JSON"));
  CHECK_THROWS_WITH(read(folder, "\n\n"), Contains("holds no preferences"));
  const std::string one = record_line(R"(["a", "b"])", "[1, 2.0]");
  CHECK(read(folder, "\xEF\xBB\xBF[" + one + "]").size() == 1);
  CHECK_THROWS_WITH(read(folder, one + "\n" + one), Contains(":3: the id x is already used by line 1"));
  CHECK_THROWS_AS(read_preferences(folder / "missing.jsonl"), Error);
  CHECK_THROWS_AS(read(folder, R"({"prompt": "p", "images": ["no.png"], "responses": ["a", "b"], "rank": [1, 2]})"),
                  Error);
}

TEST_CASE("preferences: the set that something is wrong with is named") {
  const std::vector<Preference> sets = {{"one", "c", {}, {"a", "b"}, {1, 2}}, {"two", "c", {}, {"a", "no"}, {1, 1}}};
  CHECK((!without_order(sets[0]) && without_order(sets[1])));
  const auto require = [](const Candidates& set) {
    if (set.responses[1] == "no") throw Error("it is too long.");
  };
  CHECK_THROWS_WITH(require_each("eval-rm", sets, require), Catch::Equals("eval-rm: set 'two': it is too long."));
}

TEST_CASE("candidates: one response is enough, none is not") {
  CHECK(read_candidates(R"({"prompt": "p", "responses": ["a"]})", "x", ".").responses.size() == 1);
  CHECK(read_candidates(R"({"id": 3, "prompt": "p", "responses": ["a"], "rank": [1], "category": "c"})", "x", ".")
            .messages.size() == 1);
  CHECK_THROWS_WITH(read_candidates(R"({"prompt": "p", "responses": ["a"], "instruction": "Think."})", "x", "."),
                    Contains("x: key: no 'instruction'. Did you mean 'instructions'?"));
  CHECK_THROWS_WITH(read_candidates(R"({"prompt": "p", "responses": []})", "standard input", "."),
                    Contains("standard input: 'responses' must hold at least one"));
}
