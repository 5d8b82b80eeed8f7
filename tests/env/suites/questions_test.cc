#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "check_env.h"
#include "core/error.h"
#include "core/file.h"
#include "env/kit/question_file.h"
#include "env/protocol.h"
#include "env/suite.h"
#include "suite_checks.h"
#include "temp_folder.h"
#include "tools/search/index_builder.h"

using namespace agon;
using namespace agon::env;
using agon::test::text_of;
using Catch::Contains;

namespace {

constexpr const char* kFlashRag =
    R"({"id": "dev_0", "question": "Who wrote the first program?", "golden_answers": ["Ada Lovelace", "Lovelace"], "metadata": {"type": "bridge"}})"
    "\n"
    R"({"id": "dev_1", "question": "What did Babbage design?", "golden_answers": ["the Analytical Engine"]})"
    "\n";
constexpr const char* kSearchR1 =
    R"({"id": "test_0", "question": "who?", "golden_answers": ["Ada"], "data_source": "nq", "prompt": [{"role": "user", "content": "Answer ... who?"}], "ability": "fact-reasoning", "reward_model": {"style": "rule", "ground_truth": {"target": ["Ada"]}}, "extra_info": {"split": "test", "index": 0}})";

// A file of questions, the pictures that it names, and an index to search.
struct Files {
  test::TempFolder folder;

  std::string write(const std::string& name, const std::string& text) const {
    write_file_atomically((folder / name).string(), text);
    return (folder / name).string();
  }
  std::string picture(const std::string& name, std::uint8_t value = 100) const {
    save_image(Image(8, 8, std::vector<std::uint8_t>(192, value)), folder / name);
    return name;
  }
  std::string index() const {
    const std::string documents =
        write("docs.jsonl",
              R"({"id": "1", "contents": "\"Ada Lovelace\"\nShe wrote the first program, for the Analytical Engine."})"
              "\n"
              R"({"id": "2", "contents": "\"Charles Babbage\"\nHe designed the Analytical Engine."})"
              "\n");
    tools::build_search_index(documents, folder / "docs.index");
    return (folder / "docs.index").string();
  }
  std::string mat_search(int count) const {
    Json items = Json::array();
    for (int i = 0; i < count; ++i)
      items.push_back({{"id", i}, {"question", "Who is it?"}, {"answer", "Ada"}, {"image_path", picture("a.png")}});
    return write("MAT-Search.json", items.dump());
  }
  std::string mat_coding(const std::vector<std::string>& types, const std::string& answers) const {
    picture("original.png", 200);
    picture("processed.png", 50);
    const Json item{{"id", 7},       {"question", "What is it?"},        {"answers", Json::parse(answers)},
                    {"type", types}, {"ori_image_path", "original.png"}, {"processed_image_path", "processed.png"}};
    return write("MAT-Coding.json", Json::array({item}).dump());
  }
};

}  // namespace

TEST_CASE("questions: FlashRAG's and Search-R1's lines are read") {
  const Files files;
  const QuestionFile flash = read_question_file(files.write("dev.jsonl", kFlashRag));
  REQUIRE(flash.questions.size() == 2);
  CHECK(flash.questions[0].id == "dev_0");
  CHECK(flash.questions[0].answers == std::vector<std::string>{"Ada Lovelace", "Lovelace"});
  CHECK(flash.questions[0].picture.empty());
  CHECK(read_question_file(files.write("r1.jsonl", kSearchR1)).questions[0].answers == std::vector<std::string>{"Ada"});
  const std::string target_only = R"({"question": "who?", "reward_model": {"ground_truth": {"target": ["Ada"]}}})";
  const FileQuestion question = read_question_file(files.write("r1.jsonl", target_only)).questions[0];
  CHECK(question.answers == std::vector<std::string>{"Ada"});
  CHECK(question.id == "0");
}

TEST_CASE("questions: MAT-Search's first 75 are the simple ones") {
  const Files files;
  const QuestionFile file = read_question_file(files.mat_search(77));
  REQUIRE(file.questions.size() == 77);
  CHECK(file.questions[0].picture == files.folder / "a.png");
  CHECK(file.questions[74].level == 1);
  CHECK(file.questions[75].level == 2);
  files.picture("a.png", 3);
  CHECK(read_question_file(files.mat_search(77)).hash == file.hash);
  CHECK(read_question_file(files.mat_search(76)).hash != file.hash);
}

TEST_CASE("questions: what does not fit is told with its place") {
  const Files files;
  const auto told = [&](const std::string& text, const std::string& what) {
    const std::string path = files.write("file.jsonl", text);
    INFO(text);
    CHECK_THROWS_WITH(read_question_file(path), Contains(path) && Contains(what));
  };
  told("PAR1\x15\x04", "read_parquet");
  told("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull");
  told("", "no questions");
  told("[]", "no questions");
  told("[{", "not JSON");
  told(std::string(kFlashRag) + "{\n", ":3: not JSON");
  told("7\n", ":1: not a JSON object");
  told(R"([{"question": "a", "answer": "b"}, {"question": "a"}])", "item 1: no \"answer\"");
  for (const char* key :
       {"image", "images", "Image_path", "imagepath", "image_paths", "image-path", "img_path", "picture"})
    told(fmt::format(R"({{"question": "a", "answer": "b", "{}": "x.png"}})", key), "did you mean \"image_path\"?");
  told(R"({"answer": "b"})", "no \"question\"");
  told(R"({"question": "a", "golden_answers": [""]})", "\"golden_answers\" holds an empty text");
  told(R"({"question": "a", "golden_answers": ["b"], "answer": "c"})", "Keep one");
  told(R"({"question": "  ", "answer": "b"})", "not a text with something in it");
  told(R"({"question": "a", "answer": {}})", "\"answer\" is {}");
  told(R"({"question": "a", "answer": []})", "\"answer\" is empty");
  told(R"({"id": 1, "question": "a", "answer": "b"})"
       "\n"
       R"({"id": "1", "question": "a", "answer": "b"})",
       "id 1 is already used in ");
  told(R"({"question": "a", "answer": "b", "image_path": "none.png"})", "none.png");
  told(R"({"question": "a", "answers": "b", "type": ["fog"], "ori_image_path": "a", "processed_image_path": "a"})",
       "fog");
  CHECK_THROWS_WITH(make_env("questions"), Contains("--file"));
  CHECK_THROWS_WITH(read_question_file("/nowhere/q.json"), Contains("/nowhere/q.json"));
  CHECK(Suite("questions").info().test_tasks == 0);
}

TEST_CASE("questions: are answered by searching the index that is named") {
  const Files files;
  const SuiteOptions options{.file = files.write("dev.jsonl", kFlashRag), .search = files.index()};
  CHECK(Suite("questions", options).info().test_tasks == 2);
  CHECK(check_env(Suite("questions", options), 2, 1) == std::vector<std::string>{});
  const auto env = make_env("questions", options);
  env->prepare();
  CHECK(text_of(env->reset({Split::test, 0})) == "Who wrote the first program?");
  const StepResult found = env->step({wrap(Tag::search, "first program"), {}});
  CHECK_THAT(text_of(found), Contains("<information>\nDoc 1(Title: Ada Lovelace)"));
  CHECK(found.tool_calls[0].outcome == "ok");
  const StepResult half = env->fork()->step({wrap(Tag::answer, "Ada"), {}});
  CHECK(half.reward.total == Approx(2.0 / 3));
  CHECK(half.success == false);
  CHECK(env->step({wrap(Tag::answer, "lovelace!"), {}}).success == true);
  CHECK_THROWS_WITH(env->reset({Split::test, 2}), Contains("no task 2"));
  CHECK_THROWS_WITH(env->reset({Split::train, 0}), Contains("no train split"));
}

TEST_CASE("questions: without a place to search only baselines run, and one that is broken ends the run") {
  const Files files;
  const std::string file = files.write("dev.jsonl", kFlashRag);
  CHECK_THROWS_WITH(make_env("questions", {.file = file})->prepare(), Contains("--search"));
  CHECK_THROWS_WITH(make_env("questions", {.file = file, .search = "/no/such.index"})->prepare(),
                    Contains("/no/such.index"));
  CHECK_NOTHROW(make_env("questions", {.file = file, .baseline = "cot"})->prepare());
  const auto rag = make_env("questions", {.file = file, .search = files.index(), .baseline = "rag"});
  CHECK_THAT(text_of(rag->reset({Split::test, 0})), Contains("Doc 1(Title: Ada Lovelace)"));
  CHECK(rag->step({"<search>more</search>", {}}).terminated);
  const auto down = make_env("questions", {.file = file, .search = "http://127.0.0.1:1"});
  down->reset({Split::test, 0});
  CHECK_THROWS_WITH(down->step({wrap(Tag::search, "x"), {}}), Contains("unavailable"));
}

TEST_CASE("mat_coding: the processed picture is shown, the original where a part is asked for") {
  const Files files;
  const auto first_pixel = [&](const std::vector<std::string>& types) {
    const auto env = make_env("mat_coding", {.file = files.mat_coding(types, R"("cat")")});
    const int value = env->reset({Split::test, 0}).observation.parts.at(0).image.rgb()[0];
    return std::pair{value, env->task().kind};
  };
  CHECK(first_pixel({"dark"}) == std::pair{50, std::string("dark")});
  CHECK(first_pixel({"rotation90", "noise"}) == std::pair{50, std::string("noise+rotation90")});
  CHECK(first_pixel({"crop"}) == std::pair{200, std::string("crop")});
  CHECK(first_pixel({"none"}) == std::pair{50, std::string("none")});
}

TEST_CASE("mat_coding: a question without a picture is refused with its place") {
  const Files files;
  const std::string file = files.write(
      "m.json", R"([{"id": 1, "question": "a", "answer": "b", "processed_image_path": null, "type": null}])");
  CHECK_THROWS_WITH(Suite("mat_coding", {.file = file}),
                    Contains("m.json, item 0: the question has no damaged picture"));
  CHECK_THROWS_WITH(make_env("mat_coding", {.file = file}), Contains("no damaged picture"));
}

TEST_CASE("mat_coding: plays problem, code and answer, scored by the best of the answers") {
  const Files files;
  const SuiteOptions options{.file = files.mat_coding({"dark"}, R"(["a black cat", "cat"])")};
  CHECK(check_env(Suite("mat_coding", options), 1, 1) == std::vector<std::string>{});
  const auto env = make_env("mat_coding", options);
  env->prepare();
  env->reset({Split::test, 0});
  CHECK(env->task().id == "mat_coding/7");
  const StepResult named = env->step({"<think>Dark.</think><problem>{'dark'}</problem>", {}});
  CHECK(named.step_correct == true);
  CHECK_THAT(text_of(named), Contains("mends the picture: dark"));
  const StepResult lighter =
      env->step({"<code>```python\nimport cv2\np = cv2.imread('path_to_input_image.jpg')\n"
                 "cv2.imwrite('path_to_output_image.jpg', p * 2)\n```</code>",
                 {}});
  CHECK(lighter.observation.parts.at(0).image.rgb()[0] == 100);
  CHECK(env->fork()->step({wrap(Tag::answer, "black cat"), {}}).reward.total == 1);
  CHECK(env->step({wrap(Tag::answer, "a cat."), {}}).success == true);
}
