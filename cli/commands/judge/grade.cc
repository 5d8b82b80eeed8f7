// agon grade - grades the answers of a file with the graders of env/grading/grader.h, and explains the grades.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/json_records.h"
#include "core/text.h"
#include "env/grading/grade_options.h"
#include "env/grading/grader.h"

namespace agon::cli {
namespace {

struct GradeFlags {
  std::string file;
  bool explain = false, json = false;
};

// A key that looks like a misspelling of a known one is refused; other keys are allowed.
void check_keys(const Json& line) {
  static const std::vector<std::string> kKeys = {
      "grader", "answer", "options", "response", "tolerance", "coordinates", "response_coordinates", "size"};
  for (const auto& [key, value] : line.items())
    if (const auto meant = slip_of(key, kKeys); meant && !line.contains(*meant))
      throw Error("no key \"{}\"; did you mean \"{}\"?", key, *meant);
}

const Json& value_at(const Json& line, const char* key) {
  if (!line.contains(key)) throw Error("no \"{}\"", key);
  return line[key];
}

std::string text_at(const Json& line, const char* key) {
  const Json& value = value_at(line, key);
  if (!value.is_string()) throw Error("\"{}\" is {}, not a text", key, shown(SortedJson(value)));
  return value.get<std::string>();
}

Json graded(const Json& line, bool explain) {
  check_keys(line);
  const env::Grader grader(text_at(line, "grader"), value_at(line, "answer"), env::grade_options_of(line));
  const env::Grade grade = grader.judge(text_at(line, "response"));
  Json result;
  if (line.contains("id")) result["id"] = line["id"];
  result["reward"] = grade.reward;
  result["correct"] = grade.correct;
  result["extracted"] = grade.extracted ? Json(*grade.extracted) : Json();
  result["why"] = grade.why;
  if (explain) result["steps"] = grade.steps;
  return result;
}

// Grades record by record and calls take(result) for each.
template <typename Take>
std::size_t grade_records(std::istream& input, const std::string& name, bool explain, Take take) {
  std::size_t count = 0;
  const auto grade = [&](const SortedJson& record, const RecordPlace&) {
    take(graded(Json(record), explain));
    ++count;
  };
  try {
    read_records(input, name, grade);
  } catch (const Error& error) {
    throw Error("grade: {} ({} graded before it)", error.what(), count);
  }
  if (count == 0)
    throw Error("grade: {} holds no answers. Write one JSON object per line: grader, answer, response.", name);
  return count;
}

void run(const GradeFlags& flags) {
  const bool standard_input = flags.file == "-";
  const std::string name = standard_input ? "standard input" : flags.file;
  std::ifstream file;
  if (!standard_input) {
    file.open(flags.file);
    if (!file || file.peek() == std::ifstream::traits_type::eof()) read_file(flags.file);  // throws the error
  }
  std::istream& input = standard_input ? std::cin : file;
  if (!flags.json) {
    grade_records(input, name, flags.explain, [](const Json& result) {
      print_text(with_json_escapes(result.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n");
    });
    return;
  }
  Json results = Json::array();
  double rewards = 0, correct = 0;
  const std::size_t count = grade_records(input, name, flags.explain, [&](const Json& result) {
    rewards += result["reward"].get<double>();
    correct += result["correct"].get<bool>();
    results.push_back(result);
  });
  const auto total = static_cast<double>(count);
  print_measured(
      {{"answers", count}, {"accuracy", correct / total}, {"mean_reward", rewards / total}, {"results", results}},
      standard_input ? Json::object() : Json{{"file", file_record(flags.file)}});
}

}  // namespace

void add_grade(CLI::App& app) {
  auto flags = std::make_shared<GradeFlags>();
  CLI::App* command = app.add_subcommand("grade", "Grade the answers of a file, and say why");
  command
      ->add_option("FILE", flags->file,
                   "JSON lines, or a JSON array, with grader, answer, response and settings of the grader "
                   "(docs/grading.md); - for standard input")
      ->required();
  command->add_flag("--explain", flags->explain, "Add the steps of extraction and comparison to each line");
  command->add_flag("--json", flags->json, "Print one JSON object with the share of right answers and every grade");
  command->callback([flags] { run(*flags); });
}

}  // namespace agon::cli
