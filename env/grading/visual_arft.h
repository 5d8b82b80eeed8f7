// env/grading/visual_arft.h - the rewards of Visual-ARFT (arXiv 2505.14246): one turn of an agent that searches or
// writes code, compared with the expert's turn at the same place. Pure functions; nothing a policy writes makes them
// throw.
//
// accuracy, by the tag in the expert's turn (a turn that also holds another of these tags is worth 0):
//   <answer>   set F1 of the answers' words (env/grading/published_rules.h, Overlap::set)
//   <search>   similarity of the two queries, 0 below `least_similarity`
//   <code>     `code` for a step of code, which is not run; `code_is_block`: for one that holds a ```python block
//   <problem>  1 for the same set of names {'dark', 'blur'}; 1/2 where the expert has two, one of them a rotation, and
//              the turn has that rotation alone; else 0
// format: 1 if no tag is opened twice and the whole turn is <think>..</think> and then one of
//   <answer>..</answer>; <search>..</search>; <code>```python..```..</code>; <problem>{'name', ..}</problem>
//   the code agent's: of the expert's kind; the search agent's: of either of its two.
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
  bool answers_span_lines = true;  // <answer> may hold line breaks; without: such a turn's whole text is its answer
  bool plain_rotation = true;      // 'rotation' is read as 'rotation90'
  bool numbers_are_equal = false;  // search: answers that are the same number (number_match) are worth 1
};
// "paper": as the slides and the paper say (the defaults above). "official_code": as the published training code does:
// code 0.9 whatever it is, least_similarity 0.5, single lines, only the names of its prompt, equal numbers (it asks a
// symbolic verifier, of which this is the part that short answers need). Throws Error for another name, with the
// nearest.
VisualArftRules visual_arft_rules(const std::string& preset);

// Components "accuracy" and "format"; the total is their sum.
Reward search_turn_reward(std::string_view turn, std::string_view expert, const VisualArftRules& rules,
                          const TextSimilarity& similarity);
Reward code_turn_reward(std::string_view turn, std::string_view expert, const VisualArftRules& rules);

}  // namespace agon::env
