// critic/step_files.h - reads published files of labelled steps. A file holds records (core/json_records.h) in one of
// these forms, recognised by their keys:
//   ProcessBench  problem, steps, label (-1: all right; else the index of the first wrong step): the steps up to the
//                 first wrong step, since later steps have no label; source: `generator`
//   PRM800K pair  problem, partial_solution, correct_last_step, incorrect_last_step: two steps; source: "prm800k"
//   step          problem, partial_solution, next_step, and a key that ends in human_label (1 or -1): one step;
//                 source: `data_type`
//   DeltaBench    question, sections (their `content`) or sections_content (a list, or a text whose sections begin
//                 with "sectionN:" on a line), reason_error_section_numbers, reason_unuseful_section_numbers (from 1):
//                 every section; source: `task_l1`
// A record may omit partial_solution, a list of numbers and the key that gives the source, but no other key.
#pragma once

#include <filesystem>
#include <vector>

#include "critic/labelled_steps.h"

namespace agon::critic {

// JudgedStep::problem is the number of the record, kind is "step". Throws Error for a file that cannot be read, and
// (naming the place) for a record of unknown form or with a wrong value.
std::vector<LabelledStep> read_step_file(const std::filesystem::path& path);

}  // namespace agon::critic
