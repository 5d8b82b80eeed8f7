#include "critic/step_files.h"
#include "core/file.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::critic;
using Catch::Contains;

namespace {

std::vector<LabelledStep> read(const std::string& text) {
  const test::TempFolder folder;
  write_file_atomically(folder / "steps.json", text);
  return read_step_file(folder / "steps.json");
}

std::vector<bool> truths(const std::vector<LabelledStep>& steps) {
  std::vector<bool> all;
  for (const LabelledStep& step : steps) all.push_back(step.truth.correct);
  return all;
}

}  // namespace

TEST_CASE("step files: ProcessBench, up to the first wrong step") {
  const auto steps = read(R"([
    {"id": "gsm8k-0", "generator": "G", "problem": "P", "steps": ["a", "b", "c"], "final_answer_correct": false, "label": 1},
    {"id": "gsm8k-1", "generator": "H", "problem": "Q", "steps": ["d", "e"], "final_answer_correct": true, "label": -1}])");
  REQUIRE(truths(steps) == std::vector<bool>{true, false, true, true});
  CHECK(steps[1].context.messages.at(0).parts.at(0).text == "P");
  CHECK(steps[1].context.before == "a");
  CHECK(steps[1].context.step == "b");
  CHECK(steps[1].truth.position == 1);
  CHECK(steps[1].truth.source == "G");
  CHECK(steps[3].truth.problem == 1);
  CHECK(steps[3].context.before == "d");
}

TEST_CASE("step files: PRM800K pairs and single steps, a line each") {
  const auto steps = read(
      R"({"id": 1, "problem": "P", "partial_solution": "a\n\nb", "correct_last_step": "c", "incorrect_last_step": "d"})"
      "\n\n"
      R"({"problem": "Q", "partial_solution": "", "next_step": "e", "process_bench_human_label": -1, "data_type": "math"})"
      "\n");
  REQUIRE(truths(steps) == std::vector<bool>{true, false, false});
  CHECK(steps[0].context.before == "a\n\nb");
  CHECK(steps[1].context.step == "d");
  CHECK(steps[1].truth.problem == steps[0].truth.problem);
  CHECK(steps[2].truth.source == "math");
  CHECK(steps[2].truth.problem == 1);
}

TEST_CASE("step files: DeltaBench, wrong and useless sections together") {
  const char* const kForms[] = {
      R"("sections": [{"section_number": 1, "content": "a"}, {"content": "b"}, {"content": "c"}])",
      R"("sections_content": ["a", "b", "c"])", R"("sections_content": "section1:\na\nSection2: b\n\nsection3:c")"};
  for (const char* sections : kForms) {
    const auto steps = read(
        std::string(
            R"({"question": "P", "task_l1": "math", "reason_error_section_numbers": [3], "reason_unuseful_section_numbers": [1], )") +
        sections + "}");
    REQUIRE(truths(steps) == std::vector<bool>{false, true, false});
    CHECK(steps[2].context.before == "a\n\nb");
    CHECK(steps[2].context.step == "c");
    CHECK(steps[2].truth.source == "math");
  }
}

TEST_CASE("step files: what is wrong is said with its place") {
  CHECK_THROWS_WITH(read("version https://git-lfs.github.com/spec/v1\noid"), Contains("git lfs pull"));
  CHECK_THROWS_WITH(read("\n\n"), Contains("holds no steps"));
  CHECK_THROWS_WITH(read("[]"), Contains("holds no steps"));
  CHECK_THROWS_WITH(read("{\"a\": 1}\n"), Contains("steps.json:1:") && Contains("ProcessBench"));
  CHECK_THROWS_WITH(read("{}\nnot json"), Contains(":1:"));
  CHECK_THROWS_WITH(read(R"([{"problem": "P", "steps": ["a"], "label": 1}])"),
                    Contains(", item 0: label is 1, not a whole number from -1 to 0"));
  for (const char* label : {"18446744073709551615", "4294967295", "-2", "0.5", "1e30"})
    CHECK_THROWS_WITH(read(fmt::format(R"([{{"problem": "P", "steps": ["a"], "label": {}}}])", label)),
                      Contains("not a whole number from -1 to 0"));
  CHECK_THROWS_WITH(read(R"([{"problem": "P", "steps": "a", "label": 0}])"), Contains("steps must be a list"));
  CHECK_THROWS_WITH(read(R"([{"problem": 7, "steps": ["a"], "label": 0}])"), Contains("\"problem\" is 7, not a text"));
  CHECK_THROWS_WITH(read(R"([{"next_step": "a", "x_human_label": 0}])"), Contains("must be 1 or -1, got 0"));
  CHECK_THROWS_WITH(read(R"([{"next_step": "a"}])"), Contains("human_label"));
  CHECK_THROWS_WITH(read(R"([{"question": "P", "reason_error_section_numbers": [1]}])"), Contains("sections"));
  CHECK_THROWS_WITH(read(R"({"problem": "P", "correct_last_step": "a"})"),
                    Contains("steps.json:1: no \"incorrect_last_step\""));
  CHECK_THROWS_WITH(read(R"({"correct_last_step": "a", "incorrect_last_step": "b"})"), Contains("no \"problem\""));
  CHECK_THROWS_WITH(read(R"([{"steps": ["a"], "label": 0}])"), Contains(", item 0: no \"problem\""));
  CHECK_THROWS_WITH(read(R"([{"next_step": "a", "x_human_label": 1}])"), Contains("no \"problem\""));
  CHECK_THROWS_WITH(read(R"([{"sections": ["a"], "reason_error_section_numbers": [1]}])"), Contains("no \"question\""));
  for (const char* number : {"0", "2", "-1", "99999999999", "4294967297", "18446744073709551615", "1.5"})
    CHECK_THROWS_WITH(
        read(std::string(R"({"question": "P", "sections": ["a"], "reason_error_section_numbers": [)") + number + "]}"),
        Contains(fmt::format(":1: reason_error_section_numbers is {}, not a whole number from 1 to 1", number)));
  CHECK_THROWS_WITH(read(std::string(200'000, '[') + std::string(200'000, ']')), Contains("nested"));
  CHECK_THROWS_WITH(read("[3]"), Contains("not a JSON object"));
  CHECK_THROWS_WITH(read_step_file("/no/such/file"), Contains("/no/such/file"));
}

TEST_CASE("step files: a byte-order mark is no part of the data") {
  const std::string mark = "\xef\xbb\xbf", record = R"({"problem": "P", "steps": ["a"], "label": -1})";
  CHECK(read(mark + record).size() == 1);
  CHECK(read(mark + "[" + record + "]").size() == 1);
}
