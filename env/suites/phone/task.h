// env/suites/phone/task.h - draws the tasks of the phone suite: the phone's first state and the goal.
#pragma once

#include <string>

#include "core/rng.h"
#include "env/suites/phone/goal.h"
#include "env/suites/phone/state.h"

namespace agon::env::phone {

struct Task {
  std::string kind;  // open_app, set_switch, delete_contact, enter_code; level 3 also two_part, impossible
  Layout layout;
  State start;
  Goal goal;
};

// A random task. level 1: one action and COMPLETE, on a small phone. level 2: mostly two to four actions, four to six
// icons. level 3: the longest paths, up to twelve icons, lists that scroll, two-part tasks, impossible tasks.
Task make_task(int level, Rng& rng);

// What the policy sees of the task at first: the goal and all that the first screen shows. Tasks with equal content
// belong to the same split, even if they differ behind the first screen.
std::string content_of(const Task& task);

}  // namespace agon::env::phone
