#include "env/suites/phone/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace agon::env::phone {
namespace {

std::vector<int> some_of(int count, int total, Rng& rng) {
  std::vector<int> ids(static_cast<std::size_t>(total));
  std::iota(ids.begin(), ids.end(), 0);
  rng.shuffle(ids);
  ids.resize(static_cast<std::size_t>(count));
  return ids;
}

std::uint32_t set_of(const std::vector<int>& ids) {
  std::uint32_t set = 0;
  for (int id : ids) set |= 1U << id;
  return set;
}

void place_icons(const std::vector<int>& apps, Layout& layout, Rng& rng) {
  layout.icons.fill(-1);
  const std::vector<int> places = some_of(static_cast<int>(apps.size()), 12, rng);
  for (std::size_t i = 0; i < apps.size(); ++i) layout.icons[static_cast<std::size_t>(places[i])] = apps[i];
}

Layout make_layout(int level, Rng& rng) {
  constexpr int kApp[3][2] = {{2, 4}, {4, 6}, {8, 12}};
  constexpr int kRows[3][2] = {{3, 5}, {3, 5}, {5, 8}};
  const auto i = static_cast<std::size_t>(level - 1);
  Layout layout;
  place_icons(some_of(rng.between(kApp[i][0], kApp[i][1]), static_cast<int>(kApps.size()), rng), layout, rng);
  layout.settings = some_of(rng.between(kRows[i][0], kRows[i][1]), static_cast<int>(kSettings.size()), rng);
  layout.contacts = some_of(rng.between(kRows[i][0], kRows[i][1]), static_cast<int>(kContacts.size()), rng);
  const std::vector<int> keys = some_of(12, 12, rng);
  std::copy(keys.begin(), keys.end(), layout.keys.begin());
  const std::vector<int> places = some_of(3, 8, rng);
  layout.delete_place = places[0];
  layout.confirm_place = places[1];
  layout.cancel_place = places[2];
  layout.wallpaper = rng.between(0, 3);
  return layout;
}

// Shows an icon on the home screen in place of another, which is not one of the `spared` apps.
void show_icon(int app, const std::vector<int>& spared, Layout& layout, Rng& rng) {
  if (std::find(layout.icons.begin(), layout.icons.end(), app) != layout.icons.end()) return;
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < layout.icons.size(); ++i) {
    const bool taken = layout.icons[i] >= 0;
    if (taken && std::find(spared.begin(), spared.end(), layout.icons[i]) == spared.end()) free.push_back(i);
  }
  layout.icons[rng.pick(free)] = app;
}

void hide_icon(int app, Layout& layout) { std::replace(layout.icons.begin(), layout.icons.end(), app, -1); }

// Makes one task: its parts add to the goal, then the start is set.
class Maker {
 public:
  Maker(int level, Rng& rng) : level_(level), rng_(rng) {
    task_.layout = make_layout(level, rng);
    for (int setting : task_.layout.settings)
      if (rng.chance(0.5)) task_.start.switches |= 1U << setting;
    task_.start.contacts = set_of(task_.layout.contacts);
    task_.goal.switches = task_.start.switches;
    task_.goal.contacts = task_.start.contacts;
  }

  // Each adds one part to the goal and its icon to the home screen, and returns its sentence.
  std::string open_app(int first_app) {
    const int app = rng_.between(first_app, static_cast<int>(kApps.size()) - 1);
    task_.goal.open = app;
    need(app);
    return fmt::format("Open {}.", kApps[static_cast<std::size_t>(app)]);
  }
  std::string set_switch() {
    const int setting = rng_.pick(task_.layout.settings);
    task_.goal.switches = task_.start.switches ^ 1U << setting;
    need(kSettingsApp);
    return fmt::format("Turn {} {}.", kSettings[static_cast<std::size_t>(setting)],
                       has(task_.goal.switches, setting) ? "on" : "off");
  }
  std::string delete_contact() {
    contact_ = rng_.pick(task_.layout.contacts);
    task_.goal.contacts &= ~(1U << contact_);
    need(kContactsApp);
    return fmt::format("Delete {}.", kContacts[static_cast<std::size_t>(contact_)]);
  }
  std::string delete_stranger() {
    std::vector<int> strangers;
    for (int i = 0; i < static_cast<int>(kContacts.size()); ++i)
      if (!has(task_.start.contacts, i)) strangers.push_back(i);
    task_.goal.impossible = true;
    need(kContactsApp);
    return fmt::format("Delete {}.", kContacts[static_cast<std::size_t>(rng_.pick(strangers))]);
  }
  std::string enter_code(int digits) {
    for (int i = 0; i < digits; ++i) task_.goal.code += kKeys[static_cast<std::size_t>(rng_.between(0, 9))];
    need(kKeypadApp);
    return fmt::format("Enter {} on the keypad.", task_.goal.code);
  }

  void start_in(int app) { phone::open_app(task_.layout, app, task_.start); }
  // Starts on a page of an app that has no part in the task.
  void start_elsewhere() {
    int app = rng_.between(kFirstPlainApp, static_cast<int>(kApps.size()) - 1);
    if (task_.goal.open == app) app = app == kFirstPlainApp ? app + 1 : kFirstPlainApp;
    start_in(app);
  }
  void start_at_contact(Page page) {
    start_in(kContactsApp);
    task_.start.page = page;
    task_.start.contact = contact_;
  }
  // The switch is already as the goal wants it.
  void start_satisfied() {
    start_in(kSettingsApp);
    task_.start.switches = task_.goal.switches;
  }
  void start_typed() {
    start_in(kKeypadApp);
    task_.start.display = task_.goal.code;
  }
  void hide_needed() {
    for (int app : needed_) hide_icon(app, task_.layout);
  }
  Task done(std::string kind, std::string text) {
    task_.kind = std::move(kind);
    task_.goal.text = std::move(text);
    look(task_.layout, task_.start);
    return std::move(task_);
  }

  bool chance(double probability) { return rng_.chance(probability); }
  int between(int low, int high) { return rng_.between(low, high); }
  int level() const { return level_; }

 private:
  void need(int app) {
    show_icon(app, needed_, task_.layout, rng_);
    needed_.push_back(app);
  }

  int level_;
  Rng& rng_;
  Task task_;
  std::vector<int> needed_;
  int contact_ = 0;
};

Task open_task(Maker& maker) {
  std::string text = maker.open_app(0);
  if (maker.level() > 1 && maker.chance(0.2)) maker.start_elsewhere();
  if (maker.level() == 3 && maker.chance(0.3)) maker.hide_needed();
  return maker.done("open_app", std::move(text));
}

Task switch_task(Maker& maker) {
  std::string text = maker.set_switch();
  const bool at_list = maker.level() == 1 || (maker.level() == 2 && maker.chance(0.35));
  if (at_list) maker.start_in(kSettingsApp);
  if (maker.level() == 2 && at_list && maker.chance(0.5)) maker.start_satisfied();
  if (maker.level() > 1 && !at_list && maker.chance(0.15)) maker.start_elsewhere();
  return maker.done("set_switch", std::move(text));
}

Task delete_task(Maker& maker) {
  std::string text = maker.delete_contact();
  if (maker.level() == 1) maker.start_at_contact(Page::confirm);
  if (maker.level() == 2) {
    const int where = maker.between(0, 3);
    if (where == 1) maker.start_at_contact(Page::contact);
    if (where >= 2) maker.start_in(kContactsApp);
  }
  return maker.done("delete_contact", std::move(text));
}

Task code_task(Maker& maker) {
  const bool short_way = maker.chance(0.5);
  const int digits = maker.level() == 1   ? maker.between(1, 2)
                     : maker.level() == 3 ? maker.between(2, 3)
                     : short_way          ? 1
                                          : 2;
  std::string text = maker.enter_code(digits);
  if (maker.level() == 1) maker.start_typed();
  if (maker.level() == 2 && (digits == 2 || maker.chance(0.5))) maker.start_in(kKeypadApp);
  return maker.done("enter_code", std::move(text));
}

// "Turn wifi off." and "Open music." -> "Turn wifi off, then open music."
std::string joined(std::string first, std::string second) {
  first.pop_back();
  second[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(second[0])));
  return first + ", then " + second;
}

// An app to open comes last: it must be in front at the end.
Task two_part_task(Maker& maker) {
  std::string first, second;
  switch (maker.between(0, 4)) {
    case 0:
      first = maker.set_switch();
      second = maker.open_app(kFirstPlainApp);
      break;
    case 1:
      first = maker.delete_contact();
      second = maker.open_app(kFirstPlainApp);
      break;
    case 2:
      first = maker.enter_code(maker.between(1, 2));
      second = maker.set_switch();
      break;
    case 3:
      first = maker.set_switch();
      second = maker.delete_contact();
      break;
    default:
      first = maker.enter_code(maker.between(1, 2));
      second = maker.open_app(kFirstPlainApp);
  }
  return maker.done("two_part", joined(std::move(first), std::move(second)));
}

Task impossible_task(Maker& maker) {
  std::string text = maker.delete_stranger();
  if (maker.chance(0.3)) maker.start_in(kContactsApp);
  return maker.done("impossible", std::move(text));
}

}  // namespace

Task make_task(int level, Rng& rng) {
  Maker maker(level, rng);
  const int draw = rng.between(0, 99);
  if (level < 3)
    return draw < 30   ? open_task(maker)
           : draw < 60 ? switch_task(maker)
           : draw < 80 ? delete_task(maker)
                       : code_task(maker);
  if (draw < 12) return open_task(maker);
  if (draw < 30) return switch_task(maker);
  if (draw < 48) return delete_task(maker);
  if (draw < 62) return code_task(maker);
  if (draw < 87) return two_part_task(maker);
  return impossible_task(maker);
}

std::string content_of(const Task& task) {
  std::string content = fmt::format("{}|{}|{}", task.goal.text, task.layout.wallpaper, task.start.display);
  for (const Target& target : targets(task.layout, task.start))
    content += fmt::format("|{} {} {}", name_of(target, task.start), target.box.x1, target.box.y1);
  return content;
}

}  // namespace agon::env::phone
