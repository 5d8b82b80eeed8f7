// env/grading/visual_arft.h - the rewards of Visual-ARFT (arXiv 2505.14246): one turn of an agent that searches or
// writes code, compared with the expert's turn at the same place. Pure functions; nothing a policy writes makes them
// throw.
//
// accuracy, by the tag in the expert's turn (a turn that also holds another of these tags is worth 0):
//   <answer>   set F1 of the answers' words (env/grading/published_rules.h, Overlap::set)
//   <search>   similarity of the two queries, 0 below `least_similarity`
//   <code>     `code`; with `code_is_block` only if the turn's code holds a ```python block. The code is not run
//   <problem>  1 for the same set of names {'dark', 'blur'}; 1/2 if the expert names two, one of them a rotation, and
//              the turn names only that rotation; else 0
// format: 1 if no tag is opened twice and the whole turn is <think>..</think> and then one of
//   <answer>..</answer>; <search>..</search>; <code>```python..```..</code>; <problem>{'name', ..}</problem>
//   A code agent has to use the tag of the expert's turn; a search agent may use either of its two.
#pragma once

#include <string>
#include <string_view>

#include "env/env.h"
#include "env/grading/text_similarity.h"

namespace agon::env {

struct VisualArftRules {
  double code = 1;
  bool code_is_block = true;
  double least_similarity = 0;
  // <answer> and <search> may hold line breaks. False: a tag with a line break is ignored, and the whole turn is read
  // instead.
  bool answers_span_lines = true;
  bool plain_rotation = true;      // 'rotation' is read as 'rotation90'
  bool numbers_are_equal = false;  // search: answers that are the same number (number_match) are worth 1
};
// Rules by preset. "paper": the rules of the slides and the paper (the defaults above). "official_code": the rules of
// the published training code. It gives 0.9 for any code, has least_similarity 0.5, and reads <answer> and <search>
// within one line only. It accepts only the defect names of its prompt, and counts equal numbers as right (for short
// answers, all that its symbolic verifier does). Throws Error for an unknown preset, suggesting the nearest.
VisualArftRules visual_arft_rules(const std::string& preset);

// Components "accuracy" and "format"; the total is their sum.
Reward search_turn_reward(std::string_view turn, std::string_view expert, const VisualArftRules& rules,
                          const TextSimilarity& similarity);
Reward code_turn_reward(std::string_view turn, std::string_view expert, const VisualArftRules& rules);

}  // namespace agon::env
