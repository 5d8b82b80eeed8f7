// The suite questions: the questions of a file (question_file.h), answered by searches in an index or a server of the
// user.
#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "env/grading/published_rules.h"
#include "env/kit/baseline.h"
#include "env/kit/file_env.h"
#include "env/kit/schemas.h"
#include "env/kit/suite_task.h"
#include "env/kit/task_file.h"
#include "env/suites/suites.h"
#include "tools/search/open_search.h"
#include "tools/search/search_tool.h"

namespace agon::env {
namespace {

constexpr int kHits = 4;  // as in the loop of Visual-ARFT
constexpr const char* kNothingAsked = "Write <search>...</search> or <answer>...</answer> in a turn.";

class Questions final : public FileEnv {
 public:
  Questions(std::shared_ptr<const QuestionFile> file, std::string where, Baseline baseline)
      : FileEnv("questions", std::move(file)), where_(std::move(where)), baseline_(baseline) {}

  void prepare() override {
    const bool searches = baseline_ == Baseline::none || baseline_ == Baseline::rag;
    if (!searches || backend_) return;
    if (where_.empty())
      throw Error("suite questions: nowhere to search. Give --search INDEX (see agon index), or --baseline direct.");
    backend_ = tools::open_search({.where = where_});
  }

  std::unique_ptr<Env> fork() const override { return std::make_unique<Questions>(*this); }

 private:
  void add_to(StepResult& first, const FileQuestion& next) const override {
    if (baseline_ != Baseline::rag) return;
    const tools::SearchReply reply = backend_->search(replace_all(next.question, kPictureMark, " "), kHits, 30);
    if (reply.failure) throw Error("search: {}", reply.failure->message);
    first.observation.parts.push_back(Part::of(information(tools::information_of(reply.hits))));
  }

  std::vector<std::shared_ptr<tools::Tool>> new_tools(const FileQuestion&) override {
    prepare();
    if (baseline_ != Baseline::none) return {};
    return {tools::make_search_tool(backend_, {.top_k = kHits})};
  }

  int turns() const override { return baseline_ == Baseline::none ? kToolTurns : 1; }

  StepResult act(const Action& action) override {
    const Move move = move_of(action, tools().specs());
    if (move.answer || baseline_ != Baseline::none) return grade(move.answer.value_or(""), ScoreRule::mat_search);
    if (!move.call) return refused_step(kNothingAsked);
    const tools::ToolResult called = tools().call(*move.call);
    StepResult result;
    result.observation.parts.push_back(
        Part::of(information(called.error ? called.error->message + "\n" : called.parts.front().text)));
    return result;
  }

  std::string where_;
  Baseline baseline_;
  std::shared_ptr<tools::SearchBackend> backend_;  // opened when first needed; forks share it
};

}  // namespace

SuiteDefinition questions_suite(const SuiteOptions& options) {
  const Baseline baseline = baseline_from(options.baseline);
  const auto file = questions_of("questions", options.file);
  SuiteInfo info = file_suite_info("questions", file);
  info.description =
      "Search: questions of a file (MAT-Search, FlashRAG, Search-R1), answered with the documents of your index";
  info.instructions = baseline == Baseline::none
                          ? "Think in <think></think>. Then search in <search></search>, which is answered in "
                            "<information></information>, or give the answer, as short as can be, in <answer></answer>."
                          : baseline_instructions(baseline);
  info.baselines = {"direct", "cot", "rag"};
  info.max_turns = baseline == Baseline::none ? kToolTurns : 1;
  info.action_schema =
      text_action_schema("<think>...</think>, then <search>QUERY</search> or <answer>ANSWER</answer>.");
  return {std::move(info),
          [file, where = options.search, baseline](int) { return std::make_unique<Questions>(file, where, baseline); }};
}

}  // namespace agon::env
