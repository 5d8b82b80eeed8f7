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
  std::string kind;  // of MAT-Coding what is wrong with the picture, else "search"
  std::vector<std::string> answers;
  std::filesystem::path
      picture;      // empty: none. Of MAT-Coding the processed one, or where a part is asked for the original
  Defects defects;  // MAT-Coding: what is wrong with it
  int level = 1;    // MAT-Search, MAT-Coding: 1 of the simple split, 2 of the hard one, by the place in the file
};

struct QuestionFile {
  std::string path;
  std::vector<FileQuestion> questions;
  std::vector<FileTask> identities;  // of the questions; as they are read, with bare ids
  std::uint64_t hash = 0;            // of the text and the sizes of the pictures
};

// Throws Error, with the place in the file, for an invalid question, an id that occurs twice, and a picture that cannot
// be used; and for Parquet and other formats, which it does not read, with the way to convert them.
QuestionFile read_question_file(const std::string& path);

}  // namespace agon::env
