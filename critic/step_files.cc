#include "critic/step_files.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/json_records.h"
#include "core/text.h"

namespace agon::critic {
namespace {

std::string name_of(const Json& record, const char* key, const char* otherwise) {
  const std::string name = text_at(record, key, "");
  return name.empty() ? otherwise : name;
}

std::vector<std::string> texts_of(const Json& list, const char* key) {
  if (!list.is_array()) throw Error("{} must be a list, got {}", key, list.dump().substr(0, 60));
  std::vector<std::string> texts;
  for (const Json& item : list) {
    const Json text = item.is_object() ? item.value("content", Json()) : item;
    if (!text.is_string()) throw Error("{} must hold texts, got {}", key, item.dump().substr(0, 60));
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

// The sections of a text. Each begins with a line "sectionN:", with N counting from 1.
std::vector<std::string> sections_in(const std::string& text) {
  std::vector<std::string> sections;
  std::size_t begin = std::string::npos;  // start of the current section
  for (std::size_t line = 0; line < text.size();) {
    const std::string mark = fmt::format("section{}:", sections.size() + (begin == std::string::npos ? 1 : 2));
    if (to_lower(text.substr(line, mark.size())) == mark) {
      if (begin != std::string::npos) sections.emplace_back(trim(text.substr(begin, line - begin)));
      begin = line + mark.size();
    }
    const std::size_t end = text.find('\n', line);
    line = end == std::string::npos ? text.size() : end + 1;
  }
  if (begin != std::string::npos) sections.emplace_back(trim(text.substr(begin)));
  if (sections.empty()) throw Error("sections_content has no line that begins with section1:");
  return sections;
}

class StepReader {
 public:
  std::vector<LabelledStep> take() { return std::move(steps_); }

  void add(const Json& record) {
    if (record.contains("steps") && record.contains("label")) {
      add_process_bench(record);
    } else if (record.contains("correct_last_step")) {
      add_pair(record);
    } else if (record.contains("next_step")) {
      add_step(record);
    } else if (record.contains("reason_error_section_numbers")) {
      add_delta_bench(record);
    } else {
      throw Error(
          "it has neither steps and label (ProcessBench), correct_last_step (PRM800K pairs), next_step (steps), nor "
          "reason_error_section_numbers (DeltaBench)");
    }
    ++problem_;
  }

 private:
  void add(const std::string& problem, const std::string& before, const std::string& step, int position,
           const std::string& source, bool correct) {
    LabelledStep labelled;
    labelled.context = {{Message::of(Role::user, problem)}, before, step, nullptr};
    labelled.truth.problem = problem_;
    labelled.truth.position = position;
    labelled.truth.kind = "step";
    labelled.truth.source = source;
    labelled.truth.correct = correct;
    steps_.push_back(std::move(labelled));
  }

  // wrong(i): whether step i is wrong.
  void add_all(const std::string& problem, const std::vector<std::string>& steps, std::size_t count,
               const std::string& source, const std::function<bool(int)>& wrong) {
    std::string before;
    for (std::size_t i = 0; i < count; ++i) {
      const int position = static_cast<int>(i);
      add(problem, before, steps[i], position, source, !wrong(position));
      before += (before.empty() ? "" : "\n\n") + steps[i];
    }
  }

  void add_process_bench(const Json& record) {
    const std::vector<std::string> steps = texts_of(record["steps"], "steps");
    const int count = static_cast<int>(steps.size());
    const Json& label = record["label"];
    const int first_wrong = whole_number_or_throw(label, "label", -1, count - 1);
    add_all(text_at(record, "problem"), steps, static_cast<std::size_t>(first_wrong < 0 ? count : first_wrong + 1),
            name_of(record, "generator", "processbench"), [=](int i) { return i == first_wrong; });
  }

  void add_pair(const Json& record) {
    const std::string problem = text_at(record, "problem"), before = text_at(record, "partial_solution", "");
    add(problem, before, text_at(record, "correct_last_step"), 0, "prm800k", true);
    add(problem, before, text_at(record, "incorrect_last_step"), 0, "prm800k", false);
  }

  void add_step(const Json& record) {
    for (const auto& [key, value] : record.items()) {
      if (!key.ends_with("human_label")) continue;
      if (value != 1 && value != -1) throw Error("{} must be 1 or -1, got {}", key, value.dump().substr(0, 60));
      add(text_at(record, "problem"), text_at(record, "partial_solution", ""), text_at(record, "next_step"), 0,
          name_of(record, "data_type", "steps"), value == 1);
      steps_.back().truth.alone = true;
      return;
    }
    throw Error("it has a next_step and no key that ends in human_label");
  }

  void add_delta_bench(const Json& record) {
    const std::vector<std::string> sections = sections_of(record);
    std::set<int> wrong;
    for (const char* key : {"reason_error_section_numbers", "reason_unuseful_section_numbers"})
      for (const Json& number : record.value(key, Json::array())) {
        wrong.insert(whole_number_or_throw(number, key, 1, static_cast<int>(sections.size())) - 1);
      }
    add_all(text_at(record, "question"), sections, sections.size(), name_of(record, "task_l1", "deltabench"),
            [&](int i) { return wrong.contains(i); });
  }

  static std::vector<std::string> sections_of(const Json& record) {
    for (const char* key : {"sections", "sections_content", "section_content"}) {
      if (!record.contains(key)) continue;
      const Json& sections = record[key];
      return sections.is_string() ? sections_in(sections.get<std::string>()) : texts_of(sections, key);
    }
    throw Error("it has neither sections nor sections_content");
  }

  std::size_t problem_ = 0;
  std::vector<LabelledStep> steps_;
};

}  // namespace

std::vector<LabelledStep> read_step_file(const std::filesystem::path& path) {
  StepReader reader;
  read_records(read_file(path.string()), path.string(),
               [&](const SortedJson& record, const RecordPlace&) { reader.add(Json(record)); });
  std::vector<LabelledStep> steps = reader.take();
  if (steps.empty()) throw Error("{} holds no steps.", path.string());
  return steps;
}

}  // namespace agon::critic
