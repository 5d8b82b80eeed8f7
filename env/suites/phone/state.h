// env/suites/phone/state.h - the simulated phone as a state machine: its contents, what the screen shows, and what an
// action does. States are plain values: a copy is an independent phone. Coordinates are pixels of the 112 x 168 screen,
// except those of an action (0-1000).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/grading/gui_action.h"

namespace agon::env::phone {

inline constexpr int kWidth = 112, kHeight = 168;
inline constexpr int kCell = 28;        // the grid of the screen: 4 columns, 6 rows
inline constexpr int kVisibleRows = 5;  // of a list, under its title

// The vocabulary. Ids index these lists; the first three apps have screens of their own, the others a page with a
// large glyph.
inline constexpr std::array<std::string_view, 13> kApps = {"settings", "contacts", "keypad", "music",    "camera",
                                                           "maps",     "mail",     "clock",  "calendar", "weather",
                                                           "games",    "notes",    "photos"};
inline constexpr int kSettingsApp = 0, kContactsApp = 1, kKeypadApp = 2, kFirstPlainApp = 3;
inline constexpr std::array<std::string_view, 8> kSettings = {"wifi",  "bluetooth", "sound",    "location",
                                                              "torch", "night",     "airplane", "battery"};
inline constexpr std::array<std::string_view, 10> kContacts = {"Ann",  "Bob",  "Cleo", "Dan", "Eva",
                                                               "Finn", "Gina", "Hugo", "Ida", "Jack"};
inline constexpr std::array<std::string_view, 12> kKeys = {"0", "1", "2", "3", "4",     "5",
                                                           "6", "7", "8", "9", "clear", "enter"};
inline constexpr int kClearKey = 10, kEnterKey = 11;
inline constexpr std::array<std::string_view, 3> kButtons = {"delete", "confirm", "cancel"};
inline constexpr int kDeleteButton = 0, kConfirmButton = 1, kCancelButton = 2;
inline constexpr std::size_t kMaxDigits = 6;  // of the keypad's display

// Half-open: x1 <= x < x2.
struct Rect {
  int x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  bool contains(double x, double y) const { return x >= x1 && x < x2 && y >= y1 && y < y2; }
};

// The arrangement of a phone, which stays fixed during a task.
struct Layout {
  std::array<int, 12> icons{};          // app of each place of the home screen; -1: free
  std::vector<int> settings, contacts;  // rows of the lists, top to bottom
  std::array<int, 12> keys{};           // key of each place of the keypad
  int delete_place = 0;                 // 0..7: two rows of four cells at the foot of the screen
  int confirm_place = 0, cancel_place = 1;
  int wallpaper = 0;  // 0..3
};

enum class Page { home, settings, contacts, contact, confirm, keypad, app };

struct State {
  Page page = Page::home;
  int app = 0;                 // page app: the app that is shown
  int contact = 0;             // pages contact and confirm: the contact that is shown
  bool scrolled = false;       // the list shows its last rows, not its first (also while a contact is open)
  std::uint32_t switches = 0;  // bit i: setting i is on
  std::uint32_t contacts = 0;  // bit i: contact i exists
  std::uint32_t seen = 0;      // bit i: the row of contact i has been on the screen
  std::string display;         // digits typed on the keypad and not yet entered
  std::string entered;         // the last code entered
  bool operator==(const State&) const = default;
};

enum class TargetKind { app, setting, contact, key, button };

// A named thing on the screen. Only active ones react to clicks.
struct Target {
  TargetKind kind;
  int id = 0;
  Rect box;
  bool active = true;
};
std::string name_of(const Target& target, const State& state);  // "app music", "switch wifi on", "key 7"
std::vector<std::string> all_names();                           // every possible name, sorted

inline bool has(std::uint32_t set, int id) { return (set >> id & 1U) != 0; }

// Rows of the list on the screen, top to bottom; empty on other pages. Row i fills y = 28 (i + 1) .. 28 (i + 2).
std::vector<int> visible_rows(const Layout& layout, const State& state);
bool can_scroll(const Layout& layout, const State& state, Direction direction);
std::vector<Target> targets(const Layout& layout, const State& state);
// The app in front; nothing on the home screen.
std::optional<int> front_app(const State& state);

// A click on the target's centre: 0-1000 of the screen, in multiples of 20.
GuiAction click_on(const Rect& box);
// The active target under a click; nothing for other actions and for clicks elsewhere.
std::optional<Target> clicked(const Layout& layout, const State& state, const GuiAction& action);

// Performs a user's action. Returns why the phone refuses it (the state is then unchanged), or nothing if it is
// accepted. An accepted action may have no effect: a click on nothing, a scroll at the end, a long press, WAIT.
// COMPLETE and IMPOSSIBLE do not touch the phone.
std::optional<std::string> apply(const Layout& layout, const GuiAction& action, State& state);
// Goes to the first screen of an app. REQUIRES: app indexes kApps.
void open_app(const Layout& layout, int app, State& state);
// Marks the contacts on the screen as seen. apply() calls it; a state made by hand needs the call.
void look(const Layout& layout, State& state);

}  // namespace agon::env::phone
