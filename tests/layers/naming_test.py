#!/usr/bin/env python3
"""Usage: naming_test.py NAMING - naming.py finds each kind of fault: the names here with "bad" and a number in them."""
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = r'''
#define Bad_Macro(bad_Name) int bad_Name
namespace good { namespace Bad1 {
class bad_type2;  // declared, not defined
struct bad_type3 { int good = 3, Bad4; };
struct alignas(64) bad_type5 final : std::runtime_error { using std::runtime_error::runtime_error; };
enum class bad_type6 : std::uint8_t { good_one, Bad7, kBad8 };
using bad_type9 = std::vector<Good>;
using Callback = void (*)(int good, int Bad10);
template <typename T, int N>
class Good final : public Base<T>, private Other {
 public:
  explicit Good(int count) : count_(count), rest_{count} {}
  Good(const Good&) = delete;
  operator Json() const;
  bool operator<(const Good& other) const { return count_ < other.count_; }
  static constexpr int kGood = 3, bad11 = 4;
  void badMethod12();
  [[nodiscard]] const std::map<int, std::string>& good() const;

 private:
  static void good_helper(std::span<const T> badParameter13) noexcept;
  int count_, bad14 = 0, *bad15;
  std::function<void(int goodness, Other&& badParameter16)> act_;
  void (*bad17)(int);
};
constexpr int kGood = 1 << 3, bad18 = 0xffff, kBad_19 = 5;
const char* good_text = "int Bad; // no name";
const char* const bad20 = R"(int Bad;)";
constexpr std::string_view bad21("bad\0", 4);
inline int kBadFunction22() { return kGood > 0 ? Other(1) : Other{2}; }
class SQLite { int bad; };  // NOLINT(readability-identifier-naming): both names
void Good::run(decltype(kGood) badParameter23, double Figures::*badParameter24, const int (&badParameter25)[3]) {
  constexpr int kLocal = 3, local = 4;
  const std::vector<Good> good = {Good(1), Good(kLocal)};
  auto [first, badSecond26] = pair;
  for (const auto& badItem27 : good) use(*kText, a * Good(b), x && Good(y), z >> kBits);
  for (int i = 0, badEnd28 = 3; i < 3; ++i) throw Error("{}", i);
  const auto act = [badHeld29 = std::move(first), &good](int badParameter30) { return Good<int>(good); };
  enum class Place { here, badThere31 } badPlace32 = Place::here;
  act([&]<int Q>(int badParameter33) { case Good::one: return new Good(); });
  const Json &one = row["one"], &badRow34 = row["two"];
  unsigned char bytes[kLocal], badBytes35[4];
  if (const int badCount36 = count(); good > 0) do_it();
}
}}
'''

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, 'sample.cc')
    file.write_text(SOURCE, encoding='utf-8')
    run = subprocess.run([sys.executable, sys.argv[1], str(file)], capture_output=True, text=True, check=False)
found = re.findall(r'sample\.cc:\d+: (\w+) is not', run.stdout)
wanted = re.findall(r'\w*bad\w*\d\d?\b', SOURCE, re.IGNORECASE)
wanted.remove('bad_type2')
missed, wrong = set(wanted) - set(found), set(found) - set(wanted)
assert run.returncode == 1 and found == wanted, f'not found: {missed}, no faults: {wrong}'
print(f'naming_test: {len(found)} faults of {len(found)}')
