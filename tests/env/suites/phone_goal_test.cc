// Compares the oracle's closed form with brute force: a search over all actions.
#include <catch2/catch.hpp>

#include <deque>
#include <map>
#include <vector>

#include "effort.h"
#include "env/suites/phone/task.h"

using namespace agon;
using namespace agon::env;
using namespace agon::env::phone;

namespace {

std::string key_of(const State& state, const Goal& goal) {
  std::string key;
  for (std::uint64_t value : {std::uint64_t(state.page), std::uint64_t(state.app), std::uint64_t(state.contact),
                              std::uint64_t(state.scrolled), std::uint64_t(state.switches),
                              std::uint64_t(state.contacts), std::uint64_t(goal.impossible ? state.seen : 0)})
    key += std::to_string(value) + ",";
  return key + state.display + "," + state.entered;
}

std::vector<GuiAction> everything(const Layout& layout, const State& state) {
  std::vector<GuiAction> actions;
  for (const Target& target : targets(layout, state)) actions.push_back(click_on(target.box));
  for (std::string_view app : kApps)
    actions.push_back({GuiActionType::open_app, 0, 0, Direction::up, std::string(app)});
  for (Direction direction : {Direction::up, Direction::down})
    actions.push_back({GuiActionType::scroll, 0, 0, direction, ""});
  actions.push_back({GuiActionType::press_back, 0, 0, Direction::up, ""});
  actions.push_back({GuiActionType::press_home, 0, 0, Direction::up, ""});
  return actions;
}

// The number of actions to success, the ending one included, by breadth-first search; empty if it is more than `limit`.
std::optional<int> searched(const Layout& layout, const Goal& goal, const State& start, int limit) {
  std::deque<std::pair<State, int>> open{{start, 1}};
  std::map<std::string, bool> known{{key_of(start, goal), true}};
  while (!open.empty()) {
    auto [state, depth] = open.front();
    open.pop_front();
    if (reached(goal, state)) return depth;
    if (depth == limit) continue;
    for (const GuiAction& action : everything(layout, state)) {
      State next = state;
      apply(layout, action, next);
      if (known.emplace(key_of(next, goal), true).second) open.emplace_back(next, depth + 1);
    }
  }
  return std::nullopt;
}

TEST_CASE("phone: the distance to success equals that of a search over all actions") {
  constexpr int kLimit = 5;
  Rng rng(21);
  int near = 0, far = 0;
  for (int round = 0; round < test::rounds(400); ++round) {
    const Task task = make_task(rng.between(1, 3), rng);
    State state = task.start;
    for (int i = rng.between(0, 4); i > 0; --i) apply(task.layout, rng.pick(everything(task.layout, state)), state);
    const auto known = distance(task.layout, task.goal, state);
    const auto found = searched(task.layout, task.goal, state, kLimit);
    INFO(task.goal.text << " page " << int(state.page) << " known " << known.value_or(-1) << " found "
                        << found.value_or(-1));
    if (known && *known <= kLimit) CHECK(found == known);
    if (!known || *known > kLimit) CHECK_FALSE(found);
    ++(found ? near : far);
  }
  CHECK(near > test::rounds(100));
  CHECK(far >= test::rounds(20));
}

TEST_CASE("phone: a right action brings success nearer by one, digits of a TYPE counted, an expert's action is right") {
  Rng rng(22);
  for (int round = 0; round < test::rounds(300); ++round) {
    const Task task = make_task(rng.between(1, 3), rng);
    State state = task.start;
    for (int i = rng.between(0, 6); i > 0; --i) apply(task.layout, rng.pick(everything(task.layout, state)), state);
    const auto before = distance(task.layout, task.goal, state);
    const std::vector<GuiAction> right = right_actions(task.layout, task.goal, state);
    CHECK(right.empty() == !before.has_value());
    for (const GuiAction& action : right) CHECK(is_right(task.layout, task.goal, state, action));
    for (const GuiAction& action : everything(task.layout, state)) {
      State next = state;
      apply(task.layout, action, next);
      const auto after = distance(task.layout, task.goal, next);
      CHECK(is_right(task.layout, task.goal, state, action) == (before && after && *after == *before - 1));
    }
  }
}

TEST_CASE("phone: opening by name is right where it is as short as the icon") {
  Layout layout;
  layout.icons.fill(-1);
  layout.icons[0] = 3;
  Goal goal;
  goal.open = 3;
  State state;
  const GuiAction by_name{GuiActionType::open_app, 0, 0, Direction::up, "music"};
  CHECK(is_right(layout, goal, state, by_name));
  CHECK(right_actions(layout, goal, state) == std::vector<GuiAction>{click_on({2, 2, 26, 26})});
  state.page = Page::keypad;
  CHECK(right_actions(layout, goal, state) == std::vector<GuiAction>{by_name});
}

TEST_CASE("phone: a goal is out of reach once a contact that had to stay is gone") {
  Layout layout;
  layout.contacts = {0, 1};
  Goal goal;
  goal.contacts = 1;
  State state;
  state.contacts = 2;
  CHECK_FALSE(distance(layout, goal, state));
  CHECK(right_actions(layout, goal, state).empty());
}

}  // namespace
