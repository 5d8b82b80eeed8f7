#include <catch2/catch.hpp>
#include <filesystem>

#include "core/file.h"
#include "env/suite.h"
#include "error_of.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::env;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

// A temporary folder with a picture in it.
struct Folder {
  test::TempFolder folder;
  fs::path path = folder.path();
  Folder() {
    fs::create_directories(path / "pictures");
    save_image(Image(4, 2, std::vector<std::uint8_t>(24, 200)), path / "pictures" / "a.png");
  }
  std::string write(const std::string& lines) const {
    write_file_atomically(path / "tasks.jsonl", lines);
    return path / "tasks.jsonl";
  }
};

const std::string kGood =
    R"({"id": "one", "prompt": "How many?", "images": ["pictures/a.png"], "answer": 3, "grader": "number"})";

// The message with which opening these lines fails.
std::string failure(const std::string& lines) {
  const Folder folder;
  return test::error_of([&] { make_env("jsonl", {.file = folder.write(lines)}); });
}

}  // namespace

TEST_CASE("tasks of a file are shown, graded and ended") {
  const Folder folder;
  const std::string file = folder.write(
      kGood + "\n\n" +
      R"({"id": 2, "prompt": "Where?", "answer": [0,0,10,10], "grader": "iou", "level": 3, "kind": "box", "source": "me"})" +
      "\r\n" + R"({"id": "3", "prompt": "Which?", "answer": "B", "grader": "choice", "options": ["cat", "dog"]})");
  const SuiteInfo info = Suite("jsonl", {.file = file}).info();
  CHECK(info.test_tasks == 3);
  CHECK_FALSE(info.has_train_split);

  const auto env = make_env("jsonl", {.file = file});
  const StepResult first = env->reset({Split::test, 0});
  REQUIRE(first.observation.parts.size() == 2);
  CHECK(first.observation.parts[0].image.width() == 4);
  CHECK(first.observation.parts[1].text == "How many?");
  CHECK(env->task().id == "jsonl/one");
  CHECK(env->task().kind == "number");
  CHECK(env->task().gold == 3);
  const StepResult right = env->step({"one, two, three\n\n<answer>3.0</answer>\n<score>0.9</score>"});
  CHECK(right.terminated);
  CHECK(right.reward.total == 1);
  CHECK(right.reward.components == std::vector<std::pair<std::string, double>>{{"accuracy", 1}});
  CHECK(right.success == true);
  CHECK(env->step({"<answer>3</answer>"}).refused.has_value());

  env->reset({Split::test, 1});
  CHECK(env->task().level == 3);
  CHECK(env->task().kind == "box");
  const StepResult half = env->step({"[0,0,10,6]"});
  CHECK(half.reward.total == Approx(0.6));
  CHECK(half.success == true);
  env->reset({Split::test, 2});
  CHECK(env->step({" (b) <score>1</score>"}).reward.total == 1);  // no tag: the text before the score
  env->reset({Split::test, 2});
  const StepResult wrong = env->step({"\\boxed{A}"});
  CHECK(wrong.reward.total == 0);
  CHECK(wrong.success == false);
}

TEST_CASE("a task says how its answers are compared") {
  const Folder folder;
  const auto env = make_env(
      "jsonl", {.file = folder.write(
                    R"({"id": 1, "prompt": "?", "answer": 100, "grader": "number", "tolerance": 0.05, "level": 2})")});
  env->reset({Split::test, 0});
  CHECK(env->task().grading == Json({{"grader", "number"}, {"tolerance", 0.05}}));
  const StepResult result = env->step({"<think>1 or 2</think> The answer is **104** cm.\n<score>0.5</score>"});
  CHECK(result.reward.total == 1);
  CHECK(result.grading == env->task().grading);
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "answer": "x", "grader": "exact", "tolerance": 0.1})"),
             Contains(":1: ") && Contains("does nothing"));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "answer": "x", "grader": "choice", "options": ["x", "x"]})"),
             Contains(":1: ") && Contains("fits two options"));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "answer": "", "grader": "normalized"})"),
             Contains("something in it"));
}

TEST_CASE("a fork answers for itself") {
  const Folder folder;
  const auto env = make_env("jsonl", {.file = folder.write(kGood)});
  env->reset({Split::test, 0});
  const auto fork = env->fork();
  CHECK(fork->step({"3"}).reward.total == 1);
  CHECK(env->step({"4"}).reward.total == 0);
}

TEST_CASE("there is no train split, and no task past the last") {
  const Folder folder;
  const auto env = make_env("jsonl", {.file = folder.write(kGood)});
  CHECK_THROWS_WITH(env->reset({Split::train, 0}), Contains("train"));
  CHECK_THROWS_WITH(env->reset({Split::test, 1}), Contains("no task 1"));
  CHECK(env->step({"3"}).refused.has_value());
}

TEST_CASE("a file that has changed is read anew by another Suite") {
  const Folder folder;
  CHECK(Suite("jsonl", {.file = folder.write(kGood)}).info().test_tasks == 1);
  const std::string second = R"({"id": "two", "prompt": "?", "answer": "x", "grader": "exact"})";
  CHECK(Suite("jsonl", {.file = folder.write(kGood + "\n" + second)}).info().test_tasks == 2);
}

TEST_CASE("another text or another picture is another file") {
  const auto hash = [](std::uint8_t gray, const std::string& lines) {
    const Folder folder;
    save_image(Image(4, 2, std::vector<std::uint8_t>(24, gray)), folder.path / "pictures" / "a.png");
    return Suite("jsonl", {.file = folder.write(lines)}).info().file_hash;
  };
  CHECK(hash(200, kGood) == hash(200, kGood));
  CHECK(hash(200, kGood) != hash(100, kGood));
  CHECK(hash(200, kGood) != hash(200, kGood + "\n"));
}

TEST_CASE("a bad line is told with its number and what is wrong") {
  CHECK_THAT(failure(kGood + "\n\n{\"id\": "), Contains("tasks.jsonl:3: not JSON"));
  CHECK_THAT(failure("[1, 2]"), Contains(":1: not a JSON object {...}"));
  CHECK_THAT(failure(R"({"prompt": "?", "answer": 1, "grader": "exact"})"), Contains("no \"id\""));
  CHECK_THAT(failure(R"({"id": "1", "prompt": " ", "answer": 1, "grader": "exact"})"), Contains("\"prompt\""));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "grader": "exact"})"), Contains("no \"answer\""));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "answr": 1, "grader": "exact"})"),
             Contains("\"answr\"") && Contains("\"answer\""));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "answer": 1, "grader": "exactt"})"),
             Contains(":1: ") && Contains("Did you mean 'exact'?"));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "answer": "many", "grader": "number"})"), Contains("\"many\""));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "answer": {"a": 1}, "grader": "exact"})"), Contains("object"));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "answer": 1, "grader": "exact", "images": "a.png"})"),
             Contains("\"images\" is \"a.png\", not a list"));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "answer": 1, "grader": "exact", "level": -1})"),
             Contains("\"level\" is -1"));
  CHECK_THAT(failure(kGood + "\n" + kGood), Contains(":2: ") && Contains("in line 1"));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "images": ["pictures/b.png"], "answer": 1, "grader": "exact"})"),
             Contains(":1: ") && Contains("b.png"));
  CHECK_THAT(failure(R"({"id": "1", "prompt": "?", "images": ["tasks.jsonl"], "answer": 1, "grader": "exact"})"),
             Contains("not a PNG, JPEG or WebP"));
  CHECK_THAT(failure("{\"id\": \"\xff\"}"), Contains("not JSON"));
  CHECK_THAT(failure(std::string(100'000, '[')), Contains("nested"));
  CHECK_THAT(failure(" \n\n"), Contains("no tasks"));
}

TEST_CASE("a task may show a video: pictures and how many there are a second") {
  const Folder folder;
  save_image(Image(4, 2, std::vector<std::uint8_t>(24, 7)), folder.path / "pictures" / "b.png");
  save_image(Image(2, 2, std::vector<std::uint8_t>(12, 7)), folder.path / "pictures" / "small.png");
  const auto task = [&](const std::string& video) {
    return folder.write(R"({"id": "1", "prompt": "What happens?", "images": ["pictures/small.png"], "video": )" +
                        video + R"(, "answer": "up", "grader": "exact"})");
  };
  const std::string good = task(R"({"frames": ["pictures/a.png", "pictures/b.png", "pictures/a.png"], "fps": 1.5})");
  const Suite suite("jsonl", {.file = good});
  CHECK(suite.info().file_tasks->front().pictures.size() == 4);
  CHECK(shows_pictures(suite, Split::test, 0));
  const auto parts = suite.make_env()->reset({Split::test, 0}).observation.parts;
  REQUIRE(parts.size() == 3);
  REQUIRE(parts[0].is_video());
  CHECK(parts[0].video->fps == 1.5);
  CHECK(parts[0].video->frames.size() == 3);
  CHECK(parts[0].video->frames[1].rgb()[0] == 7);
  CHECK(parts[1].is_image());
  const auto refused = [&](const std::string& video, const std::string& why) {
    CHECK_THROWS_WITH(Suite("jsonl", {.file = task(video)}), Contains(":1: ") && Contains(why));
  };
  refused("\"a.mp4\"", "\"video\" is \"a.mp4\"");
  refused(R"({"file": "none.mp4"})", "none.mp4");
  refused(R"({"file": "pictures/a.png", "count": 4})", "not an MP4");
  refused(R"({"file": "a.mp4", "fps": 2, "count": 4})", "or a file");
  refused(R"({"file": "a.mp4", "count": 0})", "count");
  refused(R"({"frames": ["pictures/a.png"]})", "how many there are a second");
  refused(R"({"frames": ["pictures/a.png"], "fps": 0})", "how many there are a second");
  refused(R"({"frames": [], "fps": 2})", "no frames");
  refused(R"({"frames": ["pictures/none.png"], "fps": 2})", "none.png");
  const Suite uneven("jsonl", {.file = task(R"({"frames": ["pictures/a.png", "pictures/small.png"], "fps": 2})")});
  CHECK_THROWS_WITH(uneven.make_env()->reset({Split::test, 0}), Contains("4 x 2 and of 2 x 2"));
}

TEST_CASE("a task file is asked for, and told when it is absent") {
  CHECK_THROWS_WITH(make_env("jsonl"), Contains("--file"));
  CHECK_THROWS_WITH(make_env("jsonl", {.file = "/nowhere/t.jsonl"}), Contains("/nowhere/t.jsonl"));
  CHECK(Suite("jsonl").info().test_tasks == 0);
}
