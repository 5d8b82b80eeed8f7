// env/kit/question_file.h - reads published question sets: one JSON array, or one JSON object per line.
//   MAT-Search  {"id", "question", "answer", "image_path"}
//   MAT-Coding  {"id", "question", "answers", "type", "ori_image_path", "processed_image_path"}
//   FlashRAG    {"id", "question", "golden_answers", "metadata"}
//   Search-R1   {"id", "question", "golden_answers", "reward_model": {"ground_truth": {"target"}}, ...}
// Answers are a text or a list of texts. Picture paths are relative to the file. env/kit/task_file.h and
// env/kit/task_pictures.h hold the rules shared with other task files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "env/kit/defects.h"
#include "env/suite.h"

namespace agon::env {

struct FileQuestion {
  std::string id, question;
  std::string kind;  // for MAT-Coding the defects of the picture, else "search"
  std::vector<std::string> answers;
  std::filesystem::path
      picture;      // empty: none. For MAT-Coding the processed one, or the original if a part has to be cut out
  Defects defects;  // MAT-Coding: defects of the picture
  int level = 1;    // MAT-Search, MAT-Coding: 1 for the simple split, 2 for the hard one, by position in the file
};

struct QuestionFile {
  std::string path;
  std::vector<FileQuestion> questions;
  std::vector<FileTask> identities;  // of the questions; their ids lack the suite until questions_of adds it
  std::uint64_t hash = 0;            // of the text and the sizes of the pictures
};

// Throws Error, with the place in the file, for an invalid question, an id that occurs twice, and a picture that cannot
// be used. For Parquet and other unsupported formats, the Error says how to convert the file.
QuestionFile read_question_file(const std::string& path);

}  // namespace agon::env
