// env/kit/file_env.h - the base class of the suites that play a file of questions (question_file.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "env/grading/published_rules.h"
#include "env/kit/question_file.h"
#include "env/kit/tool_env.h"
#include "env/suite.h"

namespace agon::env {

// Reads the questions that a suite plays; their identities get the ids of the suite's tasks. Null for an empty path.
// Throws Error as read_question_file does.
std::shared_ptr<const QuestionFile> questions_of(const std::string& suite, const std::string& path);
// The SuiteInfo fields that such suites share. Without a file there are no tasks.
SuiteInfo file_suite_info(const std::string& suite, const std::shared_ptr<const QuestionFile>& file);

class FileEnv : public ToolEnv {
 public:
  StepResult reset(const ResetOptions& options) final;

 protected:
  // Throws Error without a file.
  FileEnv(const std::string& suite, std::shared_ptr<const QuestionFile> file);
  FileEnv(const FileEnv&) = default;

  const FileQuestion& current() const { return file_->questions[index_]; }
  // Ends the task: the reward is F1, success is an exact match (env/grading/published_rules.h).
  StepResult grade(const std::string& answer, ScoreRule rule) const;

  // For the suite to define: the tools of an episode, its number of turns, and what the first observation says in
  // addition to picture and question.
  virtual std::vector<std::shared_ptr<tools::Tool>> new_tools(const FileQuestion& question) = 0;
  virtual int turns() const = 0;
  virtual void add_to(StepResult&, const FileQuestion&) const {}

 private:
  std::shared_ptr<const QuestionFile> file_;
  std::size_t index_ = 0;
};

}  // namespace agon::env
