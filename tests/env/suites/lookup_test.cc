#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "check_env.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "effort.h"
#include "env/kit/suite_task.h"
#include "env/protocol.h"
#include "env/suite.h"
#include "env/suites/lookup/index.h"
#include "env/suites/lookup/task.h"
#include "env/suites/lookup/world.h"
#include "golden/text.h"
#include "suite_checks.h"
#include "temp_folder.h"
#include "tools/search/search_tool.h"

using namespace agon;
using namespace agon::env;
using namespace agon::env::lookup;
using agon::test::expert;
using agon::test::text_of;
using Catch::Contains;

namespace {

std::unique_ptr<Env> lookup_at(int level) { return make_env("lookup", {.level = level}); }

Action search(const std::string& query) { return {wrap(Tag::search, query), {}}; }
Action answer(const std::string& text) { return {wrap(Tag::answer, text), {}}; }

LookupTask drawn(int level, Split split, std::uint64_t index) {
  Rng rng = task_stream("lookup", level, {split, index, 9});
  return draw_task(
      rng, split, [level](Rng& stream) { return draw_lookup_task(level, stream); },
      [](const LookupTask& task) { return task.content(); });
}

}  // namespace

TEST_CASE("lookup: the expert searches and answers, in right steps, on every level and split") {
  for (int level : {1, 2, 3})
    for (Split split : {Split::test, Split::train}) {
      const auto env = lookup_at(level);
      for (std::uint64_t index = 0; index < test::rounds(100); ++index) {
        env->reset({split, index, 7});
        CHECK(expert(*env).size() == static_cast<std::size_t>(level) + 1);
        test::check_expert_episode(*env);
      }
    }
}

TEST_CASE("lookup: the world has one thing of each name, and every emblem its own words") {
  const World& world = lookup_world();
  std::set<std::string> names, bags;
  for (const House& house : world.houses) {
    CHECK(names.insert(name_of(house)).second);
    std::vector<std::string> words = split_words(name_of(house));
    std::sort(words.begin(), words.end());
    CHECK(bags.insert(fmt::format("{}", fmt::join(words, " "))).second);
  }
  for (const Person& person : world.people) CHECK(names.insert(person.name).second);
  for (const Town& town : world.towns) CHECK(names.insert(town.name).second);
  CHECK(world.houses.size() > 1000);
  const std::vector<tools::Document> documents = lookup_documents();
  CHECK(documents.size() == kLookupDocuments);
  std::set<std::string> ids;
  for (const tools::Document& document : documents) ids.insert(document.id);
  CHECK(ids.size() == kLookupDocuments);
}

TEST_CASE("lookup: a thing's name finds its document among the first three") {
  const World& world = lookup_world();
  const auto index = lookup_index();
  Rng rng(1);
  for (int i = 0; i < 600; ++i) {
    const std::vector<Thing> things{{ThingKind::house, rng.between(0, static_cast<int>(world.houses.size()) - 1)},
                                    {ThingKind::person, rng.between(0, static_cast<int>(world.people.size()) - 1)},
                                    {ThingKind::town, rng.between(0, static_cast<int>(world.towns.size()) - 1)}};
    for (const Thing& thing : things) {
      const std::string name = world.name_of(thing);
      const tools::SearchReply reply = index->search(name, 3, 10);
      const bool found = std::any_of(reply.hits.begin(), reply.hits.end(),
                                     [&](const tools::SearchHit& hit) { return hit.title == name; });
      INFO(name);
      CHECK(found);
    }
  }
}

TEST_CASE("lookup: documents are found, and each search is recorded") {
  const auto env = lookup_at(2);
  env->reset({Split::test, 0});
  const LookupTask task = drawn(2, Split::test, 0);
  const StepResult result = env->step(search(task.content()));
  CHECK_THAT(text_of(result), Catch::StartsWith("<information>\nDoc 1(Title: ") && Catch::EndsWith("</information>") &&
                                  Contains(task.content()) && Contains(task.value(0)));
  REQUIRE(result.tool_calls.size() == 1);
  CHECK(result.tool_calls[0].tool == "search");
  CHECK(result.tool_calls[0].arguments == Json{{"query", task.content()}});
  CHECK(result.tool_calls[0].outcome == "ok");
  CHECK(result.step_correct == true);
  CHECK(env->step(search(task.content())).step_correct == false);  // it is already known
  const StepResult nothing = env->step(search("xyzzy"));
  CHECK_THAT(text_of(nothing), Contains("No document matches"));
  CHECK(nothing.step_correct == false);
  const StepResult direct = env->step({"", {{"1", "search", {{"query", task.value(0)}, {"top_k", 1}}}}});
  CHECK(direct.step_correct == true);
  CHECK(env->step(answer(task.answer())).success == true);
}

TEST_CASE("lookup: answers are scored by exact match and F1") {
  const auto env = lookup_at(1);
  std::uint64_t index = 0;
  while (drawn(1, Split::test, index).chain.front() != lookup::Relation::founder) ++index;
  const auto reward = [&](const std::string& text) {
    env->reset({Split::test, index});
    return env->step(answer(text));
  };
  const std::string gold = drawn(1, Split::test, index).answer();
  const std::string given = gold.substr(0, gold.find(' '));
  CHECK(reward(gold).reward.total == 1);
  CHECK(reward("The " + to_lower(gold) + ".").success == true);
  CHECK(reward(given).reward.total == Approx(2.0 / 3));
  CHECK(reward(given).success == false);
  CHECK(reward("nobody").reward.total == 0);
  CHECK(reward("").reward.total == 0);
}

TEST_CASE("lookup: the first thing that a turn asks for counts") {
  const auto env = lookup_at(1);
  env->reset({Split::test, 0});
  CHECK_FALSE(env->fork()->step({search("Order").text + answer("x").text, {}}).terminated);
  CHECK(env->fork()->step({answer("x").text + search("Order").text, {}}).terminated);
  CHECK(env->fork()->step({"\\boxed{x}", {}}).terminated);
  CHECK(env->fork()->step({"<code>1</code>", {}}).refused.has_value());
  CHECK(env->fork()->step({"<search>no end", {}}).refused.has_value());
}

TEST_CASE("lookup: five turns end it") {
  const auto env = lookup_at(1);
  env->reset({Split::test, 0});
  for (int turn = 0; turn < 4; ++turn) CHECK_FALSE(env->step(search("weaver")).truncated);
  CHECK(expert(*env).size() == 1);  // only the answer fits the remaining turns
  CHECK(env->fork()->step(expert(*env).front()).success == true);
  const StepResult last = env->step(search("weaver"));
  CHECK(last.truncated);
  CHECK(last.success == false);
  CHECK(env->step(answer("x")).refused.has_value());
}

TEST_CASE("lookup: forks do not see each other") {
  const auto env = lookup_at(2);
  env->reset({Split::test, 5});
  const auto fork = env->fork();
  fork->step(expert(*fork).front());
  CHECK(expert(*fork).size() == 2);
  CHECK(expert(*env).size() == 3);
  const auto later = fork->fork();
  later->reset({Split::test, 6});
  CHECK(expert(*fork).size() == 2);
}

TEST_CASE("lookup: steps are labelled by the world, searches by what they find") {
  const auto env = lookup_at(2);
  env->reset({Split::test, 1});
  const LookupTask task = drawn(2, Split::test, 1);
  const auto verdict = [&](const std::string& step) {
    const auto label = env->check_step({"", step});
    if (!label) return std::string("unknown");
    CHECK(label->correct == label->reason.empty());
    return fmt::format("{} {}", label->correct ? "right" : "wrong", to_string(label->kind));
  };
  const std::string relation(noun_of(task.chain[0]));
  CHECK(verdict("<think>" + emblem_sentence(task.content()) + "</think>") == "right perception");
  CHECK(verdict(emblem_sentence("Order of the Red Star and the Red Star")) == "wrong perception");
  CHECK(verdict(search(task.content()).text) == "right perception");
  CHECK(verdict(search("weaver").text) == "wrong perception");
  CHECK(verdict("The " + relation + " is " + task.value(0) + ".") == "right reasoning");
  CHECK(verdict("The " + relation + " is somebody.") == "wrong reasoning");
  CHECK(verdict("The weather is fine.") == "unknown");
  CHECK(verdict(answer(task.answer()).text) == "right reasoning");
  CHECK(verdict(answer("x").text) == "wrong reasoning");
  env->step(search(task.content()));
  CHECK(verdict(search(task.content()).text) == "wrong reasoning");
  CHECK(verdict(search(task.value(0)).text) == "right reasoning");
}

TEST_CASE("lookup: corrupted steps are wrong, of every kind that fits") {
  std::map<ErrorKind, int> made;
  for (int level : {1, 2, 3}) test::check_corruptions(*lookup_at(level), 40, made);
  CHECK(made[ErrorKind::misread_value] == 120);
  CHECK(made[ErrorKind::wrong_object] > 400);
  CHECK(made[ErrorKind::unjustified_jump] > 400);
}

TEST_CASE("lookup: a house of the test split is in no train task, and every thread draws the same") {
  std::set<std::string> houses;
  for (int level : {1, 2, 3})
    for (std::uint64_t index = 0; index < kTestTasks; ++index)
      houses.insert(drawn(level, Split::test, index).content());
  CHECK(houses.size() > 50);
  for (int level : {1, 2, 3})
    for (std::uint64_t index = 0; index < 1000; ++index)
      CHECK_FALSE(houses.contains(drawn(level, Split::train, index).content()));
  test::check_determinism("lookup");
}

TEST_CASE("lookup: every kind of question occurs") {
  for (const auto& [level, count] : {std::pair{1, 3U}, {2, 5U}, {3, 5U}}) {
    std::set<std::string> kinds;
    for (std::uint64_t index = 0; index < 200; ++index) kinds.insert(drawn(level, Split::test, index).kind);
    CHECK(kinds.size() == count);
  }
}

TEST_CASE("lookup: sentences are read as they are written") {
  CHECK(parse_emblem_sentence(emblem_sentence("Guild of the Red Star and the Blue Cross")) ==
        "Guild of the Red Star and the Blue Cross");
  for (int i = 0; i < kRelations; ++i) {
    const auto found = parse_found_sentence(found_sentence({static_cast<lookup::Relation>(i), "Mera is Tolin"}));
    REQUIRE(found);
    CHECK(found->relation == static_cast<lookup::Relation>(i));
    CHECK(found->value == "Mera is Tolin");
  }
  CHECK_FALSE(parse_found_sentence("The is ."));
  CHECK_FALSE(parse_emblem_sentence("The emblem is of the "));
}

TEST_CASE("lookup: baselines answer in one turn") {
  for (const std::string baseline : {"direct", "cot", "rag"}) {
    const SuiteOptions options{.level = 2, .baseline = baseline};
    CHECK(Suite("lookup", options).info().max_turns == 1);
    const auto env = make_env("lookup", options);
    const StepResult first = env->reset({Split::test, 1});
    CHECK((text_of(first).find("<information>\nDoc 1(") != std::string::npos) == (baseline == "rag"));
    REQUIRE(expert(*env).size() == 1);
    CHECK(env->fork()->step(expert(*env).front()).success == true);
    const StepResult no_tools = env->step(search("Order"));
    CHECK(no_tools.terminated);
    CHECK(to_json(no_tools) == Json{{"success", false}, {"step_correct", false}});
    CHECK(check_env(Suite("lookup", options), 2, 1) == std::vector<std::string>{});
  }
  CHECK_THROWS_WITH(make_env("lookup", {.baseline = "ragg"}), Contains("Did you mean 'rag'?"));
}

TEST_CASE("lookup: the index is built once, by several at the same time, and over a damaged one") {
  const test::TempFolder folder;
  const auto answers = [&] { return lookup_index_in(folder.path())->search("weaver", 3, 10).hits.size() == 3; };
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { answered += answers(); });
  }
  CHECK(answered == 3);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files.push_back(entry.path());
  REQUIRE(files.size() == 1);  // and nothing else
  const auto built = std::filesystem::last_write_time(files[0]);
  CHECK(answers());
  CHECK(std::filesystem::last_write_time(files[0]) == built);
  write_file_atomically(files[0], "damaged");
  CHECK(answers());
  CHECK_THROWS_AS(lookup_index_in(folder.path() / "no" / "such" / "folder"), Error);
}

TEST_CASE("lookup: an index that cannot lie in one folder lies in the next") {
  const test::TempFolder folder;
  write_file_atomically(folder.path() / "file", "no folder");
  const auto foreign = folder.path() / "foreign";
  std::filesystem::create_directory(foreign);
  std::filesystem::permissions(foreign, std::filesystem::perms::all);
  const auto index = lookup_index_in_one_of({folder.path() / "file" / "agon", foreign, folder.path() / "good"});
  CHECK(std::filesystem::is_empty(foreign));
  CHECK(index->search("weaver", 3, 10).hits.size() == 3);
  CHECK_THROWS_WITH(lookup_index_in_one_of({folder.path() / "file"}), Contains("Set XDG_CACHE_HOME"));
  CHECK_THROWS_WITH(lookup_index_in_one_of({foreign}), Contains("others can write into"));
  const auto built = std::filesystem::directory_iterator(folder.path() / "good")->path();
  std::filesystem::remove(built);
  std::filesystem::create_directories(built / "in the way");
  CHECK_THROWS_WITH(lookup_index_in(folder.path() / "good"), Contains("cannot be written: Is a directory"));
}

TEST_CASE("lookup: the first tasks stay as they are") {
  std::string text;
  for (int level : {1, 2, 3}) {
    const auto env = lookup_at(level);
    for (std::uint64_t index = 0; index < 6; ++index) {
      const StepResult first = env->reset({Split::test, index});
      text += fmt::format("# {} {}\n{}\ngold {}\npicture {}\nobjects {}\n", env->task().id, env->task().kind,
                          env->task().prompt, env->task().gold.dump(), first.observation.parts[0].image.hash().hex(),
                          first.info["objects"].dump());
      const std::vector<Action> actions = expert(*env);
      for (const Action& action : actions) text += fmt::format("{}\n\n{}\n\n", action.text, text_of(env->step(action)));
    }
  }
  test::check_golden_text("suites/lookup.txt", text);
}
