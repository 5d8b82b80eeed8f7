#include "env/kit/task_pictures.h"

#include <catch2/catch.hpp>
#include <cstdio>

#include "check_env.h"
#include "core/file.h"
#include "core/text.h"
#include "env/kit/question_file.h"
#include "env/suite.h"
#include "error_of.h"
#include "paths.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;
using namespace std::string_literals;

namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::string>;

// Task files of both kinds, and pictures for them.
struct Files {
  test::TempFolder folder;

  std::string write(const std::string& name, const std::string& text) const {
    write_file_atomically((folder / name).string(), text);
    return (folder / name).string();
  }
  void picture(const std::string& name, int width = 8, int height = 6, std::uint8_t value = 100) const {
    save_image(Image(width, height, std::vector<std::uint8_t>(std::size_t(width) * std::size_t(height) * 3, value)),
               folder / name);
  }
  // Removes the last bytes of a picture.
  void cut_picture(const std::string& name) const {
    picture("whole.png", 64, 64);
    const std::string bytes = read_file((folder / "whole.png").string());
    write(name, bytes.substr(0, bytes.size() - 20));
  }
  std::string failure(const std::string& suite, const std::string& text) const {
    return test::error_of([&] {
      make_env(suite, {.file = write("tasks.jsonl", text), .baseline = suite == "questions" ? "direct" : ""});
    });
  }
};

// A task line for either suite, with the keys of `more`.
std::string line_of(const std::string& suite, const std::string& id, const std::string& more = "") {
  return suite == "questions"
             ? R"({"id": )" + id + R"(, "question": "How many?", "answer": "3")" + more + "}"
             : R"({"id": )" + id + R"(, "prompt": "How many?", "answer": 3, "grader": "number")" + more + "}";
}

std::vector<std::string> ids_of(const std::string& suite, const std::string& file) {
  std::vector<std::string> ids;
  const auto tasks = Suite(suite, {.file = file}).info().file_tasks;
  for (const FileTask& task : *tasks) ids.push_back(task.id.substr(suite.size() + 1));
  return ids;
}

std::string shape_of(const std::vector<Part>& parts) {
  std::string shape;
  for (const Part& part : parts)
    shape += part.is_image() ? fmt::format("[{}]", part.image.width()) : "(" + part.text + ")";
  return shape;
}

}  // namespace

TEST_CASE("task files are read as tools export them") {
  const Files files;
  for (const std::string suite : {"jsonl", "questions"}) {
    CAPTURE(suite);
    const auto ids = [&](const std::string& text) { return ids_of(suite, files.write("tasks.jsonl", text)); };
    const std::string one = line_of(suite, "1"), two = line_of(suite, "\"two\"");
    const Ids both = {"1", "two"};
    CHECK(ids(one + "\n" + two) == both);
    CHECK(ids(one + "\r\n\r\n  \r\n" + two + "\r\n") == both);
    CHECK(ids("\xEF\xBB\xBF" + one + "\n" + two + "\n") == both);
    CHECK(ids("[" + one + "," + two + "]") == both);
    CHECK(ids("\xEF\xBB\xBF[\n  " + one + ",\n  " + two + "\n]\n") == both);
    // Tools write whole numbers as fractions if their column has a gap.
    CHECK(ids(line_of(suite, "2.0")) == Ids{"2"});
    CHECK(ids(line_of(suite, "-7.0")) == Ids{"-7"});
    CHECK(ids(line_of(suite, "1e3")) == Ids{"1000"});
    // The user's own columns, even if they look like known keys.
    for (const char* key : {"pid", "uid", "qid", "idx", "ids", "_id", "kid"})
      CHECK(ids(line_of(suite, "1", fmt::format(R"(, "{}": 5)", key))) == Ids{"1"});
    // Empty cells.
    for (const char* key : {"images", "options", "level", "kind", "image_path", "type", "source"})
      CHECK(ids(line_of(suite, "1", fmt::format(R"(, "{}": null)", key))) == Ids{"1"});
  }
  CHECK_THAT(files.failure("jsonl", R"({"id": null, "prompt": "?", "answer": 1, "grader": "exact"})"),
             Contains("no \"id\""));
  CHECK_THAT(files.failure("jsonl", R"({"id": 1, "prompt": "?", "answer": null, "grader": "exact"})"),
             Contains("no \"answer\""));
  CHECK_THAT(files.failure("jsonl", R"({"pid": 1, "prompt": "?", "answer": 1, "grader": "exact"})"),
             Contains("did you mean \"id\""));
  for (const char* id : {"1e30", "1.5", "\" \"", "[1]"})
    for (const char* suite : {"jsonl", "questions"})
      CHECK_THAT(files.failure(suite, line_of(suite, id)), Contains("every digit of it"));
  for (const char* picture : {"http://a.org/b.png", "file:///b.png", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg"})
    CHECK_THAT(files.failure("jsonl", line_of("jsonl", "1", fmt::format(R"(, "images": ["{}"])", picture))),
               Contains(std::string("the picture ") + std::string(picture).substr(0, 12)) &&
                   Contains("is a URL, and agon reads pictures only from files"));
  CHECK_THAT(files.failure("jsonl", line_of("jsonl", "1", R"(, "images": [""])")), Contains("does not name a picture"));
  CHECK_THAT(files.failure("jsonl", line_of("jsonl", "1", R"(, "options": {"A": "x", "B": "y"})")),
             Contains("Write its texts as a list"));
  CHECK_THAT(files.failure("questions", R"({"question": "?", "answer": null})"), Contains("no \"answer\""));
  CHECK(ids_of("questions", files.write("q.jsonl", R"({"id": null, "question": "?", "answer": "x"})")) == Ids{"0"});
}

TEST_CASE("numbers of a task file are the same number however they are written") {
  const Files files;
  const auto env = make_env(
      "jsonl", {.file = files.write(
                    "t.jsonl", R"({"id": 1, "prompt": "?", "answer": 2.0, "grader": "exact", "level": 3.0})"
                               "\n"
                               R"({"id": 2, "prompt": "?", "answer": "B", "grader": "choice", "options": [1.0, 2.0]})"
                               "\n"
                               R"({"id": 3, "prompt": "?", "answer": 0.5, "grader": "number"})")});
  env->reset({Split::test, 0});
  CHECK(env->task().level == 3);
  CHECK(env->task().gold == 2);
  CHECK(env->step({"2"}).reward.total == 1);
  env->reset({Split::test, 1});
  CHECK(env->step({"<answer>B</answer>"}).reward.total == 1);
  env->reset({Split::test, 2});
  CHECK(env->task().gold == 0.5);
  // Also beyond the range of a double.
  for (const std::string grader : {"exact", "number"})
    for (const std::string digits : {"123456789012345678901234567890", "18446744073709551617", "9007199254740993"}) {
      CAPTURE(grader, digits);
      const auto large =
          make_env("jsonl", {.file = files.write("l.jsonl", R"({"id": 1, "prompt": "?", "answer": )" + digits +
                                                                R"(, "grader": ")" + grader + "\"}")});
      large->reset({Split::test, 0});
      CHECK(large->step({digits}).reward.total == 1);
      large->reset({Split::test, 0});
      CHECK(large->step({digits.substr(0, digits.size() - 1) + "8"}).reward.total == 0);
    }
  const QuestionFile questions = read_question_file(
      files.write("q.jsonl", R"({"id": 1, "question": "?", "golden_answers": [1969.0, 1.5, 1e300]})"));
  CHECK(questions.questions[0].answers == std::vector<std::string>{"1969", "1.5", "1e+300"});
}

TEST_CASE("what is no task file is told with the place and what to do") {
  const Files files;
  const auto told = [&](const std::string& text, const std::string& what) {
    for (const std::string suite : {"jsonl", "questions"}) {
      const std::string message = files.failure(suite, text);
      CAPTURE(suite, text);
      CHECK_THAT(message, Contains("tasks.jsonl") && Contains(what));
      CHECK_THAT(message, !Contains("{{") && !Contains("}}"));
    }
  };
  told("7", "not a JSON object {...}");
  told("[[1]]", "not a JSON object {...}");
  told("\"text\"", "not a JSON object {...}");
  told("[{\"id\": 1}, 2]", "item");
  told(R"({"id": 1, "id": 2})", "the key \"id\" occurs twice");
  told(R"([{"id": 1, "a": {"b": 1, "c": {}, "b": 2}}])", "the key \"b\" occurs twice");
  told(R"({"id": 1,})", "column 10: ");
  told(R"({"id": 1,})", "Remove the comma before it");
  told("[{\"id\": 1},\n]", "Remove the comma before it");
  told("[{\"id\": 1},\n{\"a\": }]", "line 2, column 7");
  told(R"({"id": NaN})", "JSON has no NaN: write null");
  told(R"({"id": nan})", "JSON has no nan");
  told(R"({"id": -Infinity})", "JSON has no -Infinity");
  told(R"({"id": None})", "JSON has no None");
  told(R"({"id": True})", "JSON writes true and false");
  told("{'id': 1}", "JSON takes \" for quotation marks");
  told(R"({"id": 1e999})", "number overflow");
  told("\x1F\x8B\x08 and so on", "gzip -dc");
  told("\xFF\xFE{\0\"\0"s, "iconv -f UTF-16");
  told("{\0\"\0i\0"s, "iconv -f UTF-16");
  told("\0{\0\""s, "iconv -f UTF-16");
  told("PK\x03\x04", "zip archive");
  told("PAR1", "read_parquet");
  told("", "no ");
  told("\xEF\xBB\xBF", "no ");
  told("{\"id\": \"\xC3\"}", "not JSON");
  told(std::string(50'000, '['), "nested");
  told("[{\"a\": " + std::string(50'000, '['), "nested");
  for (const std::string suite : {"jsonl", "questions"}) {
    const std::string again = line_of(suite, "1") + "\n\n" + line_of(suite, "\"1\"");
    CHECK_THAT(files.failure(suite, again), Contains("line 1"));
    CHECK_THAT(files.failure(suite, "[" + line_of(suite, "1") + "," + line_of(suite, "1.0") + "]"),
               Contains("item 1") && Contains("item 0"));
    CHECK_THROWS_WITH(make_env(suite, {.file = files.folder.path().string()}), Contains("is a folder"));
    CHECK_THROWS_WITH(make_env(suite, {.file = "/nowhere/t.jsonl"}), Contains("/nowhere/t.jsonl"));
  }
}

TEST_CASE("<image> in a prompt says where the picture stands") {
  const Files files;
  files.picture("a.png", 10);
  files.picture("b.png", 20);
  const auto shape = [&](const std::string& suite, const std::string& line) {
    const auto env =
        make_env(suite, {.file = files.write("t.jsonl", line), .baseline = suite == "questions" ? "direct" : ""});
    return shape_of(env->reset({Split::test, 0}).observation.parts);
  };
  const auto jsonl = [&](const std::string& prompt, const std::string& images) {
    return shape("jsonl", R"({"id": 1, "prompt": ")" + prompt + R"(", "images": )" + images +
                              R"(, "answer": 1, "grader": "number"})");
  };
  CHECK(jsonl("Which?", R"(["a.png", "b.png"])") == "[10][20](Which?)");
  CHECK(jsonl("Is <image> as <image>?", R"(["a.png", "b.png"])") == "(Is )[10]( as )[20](?)");
  CHECK(jsonl("<image><image>Which?", R"(["b.png", "a.png"])") == "[20][10](Which?)");
  CHECK(jsonl("What is in\\n<image>", R"(["a.png"])") == "(What is in\n)[10]");
  CHECK(jsonl("<image>", R"(["a.png"])") == "[10]");
  const std::string question = R"({"question": "Who is in <image>, and why?", "answer": "x", "image_path": "b.png"})";
  CHECK(shape("questions", question) == "(Who is in )[20](, and why?)");
  CHECK_THAT(
      files.failure("jsonl",
                    R"({"id": 1, "prompt": "<image> <image>", "images": ["a.png"], "answer": 1, "grader": "exact"})"),
      Contains(":1: ") && Contains("the mark <image> 2 times") && Contains("the task has 1 picture."));
  CHECK_THAT(files.failure("jsonl", line_of("jsonl", "1") + "\n" +
                                        R"({"id": 2, "prompt": "a <image>", "answer": 1, "grader": "exact"})"),
             Contains(":2: ") && Contains("the task has 0"));
  CHECK_THAT(files.failure("questions", R"({"question": "<image>?", "answer": "x"})"), Contains("the task has 0"));
  const std::string marked = files.write(
      "m.jsonl",
      R"({"id": 1, "prompt": "Is <image> as <image>?", "images": ["a.png", "b.png"], "answer": 1, "grader": "number"})");
  CHECK(check_env(Suite("jsonl", {.file = marked}), 1, 1) == std::vector<std::string>{});
}

TEST_CASE("every picture of a file is looked at before a task begins, and told with file, line and id") {
  const Files files;
  files.picture("good.png");
  files.picture("long.png", 2010, 10);
  files.picture("tall.png", 10, 2010);
  files.picture("edge.png", 2000, 10);
  files.cut_picture("cut.png");
  const auto line = [](int id, const std::string& picture) {
    return fmt::format(R"({{"id": "t{}", "prompt": "?", "images": ["{}"], "answer": 1, "grader": "number"}})", id,
                       picture) +
           "\n";
  };
  CHECK(files.failure("jsonl", line(1, "good.png") + line(2, "edge.png")).empty());
  CHECK_THAT(files.failure("jsonl", line(1, "good.png") + "\n" + line(2, "long.png")),
             Contains("tasks.jsonl:3: task jsonl/t2: ") && Contains("long.png: 2010 x 10 pixels: more than 200 times"));
  CHECK_THAT(files.failure("jsonl", line(1, "tall.png")), Contains("10 x 2010"));
  const std::string several =
      files.failure("jsonl", line(1, "good.png") + line(2, "cut.png") + line(3, "long.png") + line(4, "cut.png"));
  CHECK_THAT(several, Contains(":2: task jsonl/t2: ") && Contains("cut.png: the picture is cut off") &&
                          Contains(":3: task jsonl/t3: ") && !Contains(":4: "));
  std::string many;
  for (int i = 0; i < 40; ++i) {
    files.cut_picture(fmt::format("cut{}.png", i));
    many += line(i, fmt::format("cut{}.png", i));
  }
  CHECK_THAT(files.failure("jsonl", many), Contains(":5: ") && !Contains(":6: ") && Contains("and 35 more pictures"));
  CHECK_THAT(files.failure("questions", R"([{"id": 7, "question": "?", "answer": "x", "image_path": "cut.png"}])"),
             Contains("item 0: task 7: ") && Contains("cut.png"));
}

TEST_CASE("what lies behind a picture's end is no harm, what is missing before it is") {
  const Files files;
  const std::string pictures = agon::test::golden_path("images/");
  for (const char* name : {"rgb.png", "gray.jpg", "turned_6.jpg", "lossless.webp", "animated.webp", "turned_3.webp"}) {
    CAPTURE(name);
    const std::string bytes = read_file(pictures + name);
    CHECK_NOTHROW(check_image(files.write("whole", bytes)));
    CHECK_NOTHROW(check_image(files.write("longer", bytes + std::string(200'000, 'x'))));
    if (std::string_view(name) != "animated.webp")  // of which only the first picture is needed
      CHECK_THROWS_WITH(check_image(files.write("cut", bytes.substr(0, bytes.size() - 3))), Contains("cut off"));
  }
  // Larger than the part that is read from the start of a file.
  std::vector<std::uint8_t> noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 400 * 400 * 3; ++i) noise.push_back(std::uint8_t((state = state * 1664525 + 1013904223) >> 24));
  for (const char* name : {"a.png", "a.jpg", "a.webp"}) {
    CAPTURE(name);
    save_image(Image(400, 400, noise), files.folder / name);
    const std::string bytes = read_file((files.folder / name).string());
    REQUIRE(bytes.size() > 70'000);
    CHECK_NOTHROW(check_image(files.folder / name));
    CHECK_NOTHROW(check_image(files.write("longer", bytes + "and more")));
    CHECK_THROWS_WITH(check_image(files.write("cut", bytes.substr(0, bytes.size() - 100))), Contains("cut off"));
  }
}

TEST_CASE("decoding finds what header and end do not show") {
  const Files files;
  files.picture("good.png", 64, 64);
  std::string bytes = read_file((files.folder / "good.png").string());
  bytes[bytes.size() / 2] ^= 0x55;
  files.write("bad.png", bytes);
  const std::string file = files.write(
      "t.jsonl", R"({"id": "a", "prompt": "?", "images": ["good.png"], "answer": 1, "grader": "number"})"
                 "\n"
                 R"({"id": "b", "prompt": "?", "images": ["good.png", "bad.png"], "answer": 1, "grader": "number"})");
  const SuiteInfo info = Suite("jsonl", {.file = file}).info();
  CHECK_THROWS_WITH(decode_pictures(file, *info.file_tasks),
                    Contains("t.jsonl:2: task jsonl/b: ") && Contains("bad.png") && Contains("damaged"));
}

TEST_CASE("a task's hash is of its text and its pictures, and of no other task's") {
  const Files files;
  files.picture("a.png", 8, 6, 1);
  files.picture("b.png", 8, 6, 2);
  const auto hashes = [&](const std::string& text) {
    std::vector<std::uint64_t> all;
    for (const FileTask& task : read_question_file(files.write("q.jsonl", text)).identities) all.push_back(task.hash);
    return all;
  };
  const std::string text = R"({"id": "1", "question": "?", "answer": "x", "image_path": "a.png"})"
                           "\n"
                           R"({"id": "2", "question": "?", "answer": "x", "image_path": "b.png"})";
  const auto before = hashes(text);
  CHECK(hashes(text) == before);
  files.picture("b.png", 8, 6, 3);
  const auto mended = hashes(text);
  CHECK(mended[0] == before[0]);
  CHECK(mended[1] != before[1]);
  const auto reworded = hashes(replace_all(text, "\"1\", \"question\": \"?\"", "\"1\", \"question\": \"Who?\""));
  CHECK(reworded[0] != mended[0]);
  CHECK(reworded[1] == mended[1]);
}

TEST_CASE("a task that cannot be begun has its own id") {
  const Files files;
  const std::string file = files.write("t.jsonl", line_of("jsonl", "\"first\"") + "\n" + line_of("jsonl", "2.0"));
  const Suite jsonl("jsonl", {.file = file});
  CHECK(jsonl.task_id({Split::test, 0}) == "jsonl/first");
  CHECK(jsonl.task_id({Split::test, 1}) == "jsonl/2");
  CHECK(jsonl.task_id({Split::test, 7}) == "jsonl/1/test/7");
  for (const char* name : {"charts", "shapes", "phone", "lookup", "darkroom"}) {
    const Suite suite(name);
    const auto env = suite.make_env();
    env->reset({Split::test, 3});
    CHECK(suite.task_id({Split::test, 3}) == env->task().id);
  }
  const Suite critic("charts", {.level = 1, .role = "critic"});
  const auto env = critic.make_env();
  env->reset({Split::train, 3, 5});
  CHECK(critic.task_id({Split::train, 3, 5}) == env->task().id);
}

TEST_CASE("a run of many parts reads its file once: it plays the file as it was, whatever becomes of it") {
  const Files files;
  files.picture("a.png");
  for (const std::string name : {"jsonl", "questions", "mat_coding"}) {
    CAPTURE(name);
    const auto written = [&](const std::string& question) {
      const std::string picture = R"(, "type": "dark", "ori_image_path": "a.png", "processed_image_path": "a.png")";
      const std::string line = line_of(name == "jsonl" ? name : "questions", "1", name == "mat_coding" ? picture : "");
      return files.write("tasks.jsonl", replace_all(line, "How many?", question));
    };
    const Suite suite(name, {.file = written("Before?"), .baseline = name == "jsonl" ? "" : "direct"});
    SuiteOptions other = suite.options();
    other.held_out = "calculation";
    const auto prompt_of = [](const Suite& of) {
      const auto env = of.make_env();
      env->reset({Split::test, 0});
      return env->fork()->task().prompt;
    };
    const auto plays_as_before = [&](const Suite& part) {
      CHECK(prompt_of(part) == "Before?");
      CHECK(part.task_id({Split::test, 0}) == name + "/1");
      CHECK(part.info().test_tasks == 1);
      CHECK(part.info().file_hash == suite.info().file_hash);
    };
    written("After?");
    for (const Suite& part : {suite, suite.with(other), suite.with_role("solver")}) plays_as_before(part);
    CHECK(prompt_of(Suite(name, suite.options())) == "After?");
    fs::remove(suite.options().file);
    for (const Suite& part : {suite, suite.with(other), suite.with_role("solver")}) plays_as_before(part);
    other.file = "/nowhere";
    CHECK_THROWS_WITH(suite.with(other), Contains("/nowhere"));
  }
}
