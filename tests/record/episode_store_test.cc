#include "record/episode_store.h"
#include "record/run_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <thread>

#include "core/error.h"
#include "error_of.h"
#include "fixtures/episode.h"
#include "temp_folder.h"

using namespace agon;
using record::Episode;
using record::EpisodeStatus;
using record::EpisodeStore;
using record::RunReader;
using test::error_of;
using test::make_episode;
using test::make_failed_episode;
using test::make_trained_episode;

namespace {

using Key = std::pair<std::uint64_t, int>;
const Json kConfig = {{"suite", "charts"}, {"seed", 1}, {"sampling", {{"temperature", 1.0}, {"top_p", 1.0}}}};

void require_equal(const Episode& a, const Episode& b) {
  CAPTURE(a.task_index, a.sample);
  REQUIRE(a.task_id == b.task_id);
  REQUIRE((a.task_index == b.task_index && a.sample == b.sample && a.level == b.level && a.kind == b.kind));
  REQUIRE((a.prompt == b.prompt && a.gold == b.gold && a.status == b.status && a.failure == b.failure));
  REQUIRE((a.reward == b.reward && a.success == b.success && a.truncated == b.truncated));
  REQUIRE((a.answer == b.answer && a.score == b.score && a.seconds == b.seconds && a.train_step == b.train_step));
  REQUIRE(a.turns.size() == b.turns.size());
  for (std::size_t i = 0; i < a.turns.size(); ++i) {
    const record::Turn &x = a.turns[i], &y = b.turns[i];
    REQUIRE(x.text == y.text);
    REQUIRE((x.token_ids == y.token_ids && x.logprobs == y.logprobs && x.finish_reason == y.finish_reason));
    REQUIRE((x.prompt_tokens == y.prompt_tokens && info_of(x) == info_of(y)));
    REQUIRE((x.reward.total == y.reward.total && x.reward.components == y.reward.components));
    REQUIRE(x.credit == y.credit);
    REQUIRE(x.observation.parts.size() == y.observation.parts.size());
    for (std::size_t j = 0; j < x.observation.parts.size(); ++j) {
      REQUIRE(x.observation.parts[j].text == y.observation.parts[j].text);
      REQUIRE(x.observation.parts[j].image == y.observation.parts[j].image);
    }
  }
}

std::vector<Episode> read_all(const std::filesystem::path& folder,
                              RunReader::Detail detail = RunReader::Detail::whole) {
  std::vector<Episode> all;
  RunReader::open(folder)->for_each([&](const Episode& episode) { all.push_back(episode); }, detail);
  return all;
}

std::int64_t count(const std::filesystem::path& folder, const std::string& table) {
  sqlite3* database = nullptr;
  sqlite3_open((folder / "run.sqlite").c_str(), &database);
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(database, ("SELECT count(*) FROM " + table).c_str(), -1, &statement, nullptr) ==
          SQLITE_OK);
  sqlite3_step(statement);
  const std::int64_t rows = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return rows;
}

void execute(const std::filesystem::path& folder, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open((folder / "run.sqlite").c_str(), &database);
  REQUIRE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

// From arming on, SQLite's writes find `room` more bytes on the disk, then no space.
std::atomic<std::int64_t> room{-1};
ssize_t limited_pwrite(int file, const void* data, size_t size, off_t offset) {
  if (room >= 0 && (room -= static_cast<std::int64_t>(size)) < 0) {
    room = 0;
    errno = ENOSPC;
    return -1;
  }
  return pwrite(file, data, size, offset);
}
struct SmallDisk {
  explicit SmallDisk(std::int64_t bytes) {
    for (const char* name : {"pwrite", "pwrite64"}) set(name, reinterpret_cast<sqlite3_syscall_ptr>(&limited_pwrite));
    room = bytes;
  }
  ~SmallDisk() {
    room = -1;
    for (const char* name : {"pwrite", "pwrite64"}) set(name, nullptr);
  }
  static void set(const char* name, sqlite3_syscall_ptr function) {
    sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
    vfs->xSetSystemCall(vfs, name, function);
  }
};

}  // namespace

TEST_CASE("what is recorded is read back, byte for byte, in order") {
  const test::TempFolder folder;
  std::map<Key, Episode> model;
  {
    auto store = EpisodeStore::create(folder / "run", kConfig, false);
    Rng rng(5);
    for (int i = 0; i < 200; ++i) {  // some fail first and are replaced
      const std::uint64_t task = static_cast<std::uint64_t>(rng.between(0, 19));
      const int sample = rng.between(-1, 3);
      const Episode episode = rng.chance(0.3) ? make_failed_episode(task, sample) : make_episode(task, sample);
      model[{task, sample}] = episode;
      store->record(episode);
      if (rng.chance(0.05)) store->flush();
    }
  }
  REQUIRE(RunReader::open(folder / "run")->config() == kConfig);
  const std::vector<Episode> all = read_all(folder / "run");
  REQUIRE(all.size() == model.size());
  auto expected = model.begin();
  for (const Episode& episode : all) require_equal(episode, (expected++)->second);
  require_equal(RunReader::open(folder / "run")->episode(7, 2), model.at({7, 2}));
  for (const Episode& episode : read_all(folder / "run", RunReader::Detail::without_turns))
    REQUIRE(episode.turns.empty());
  expected = model.begin();
  for (const Episode& episode : read_all(folder / "run", RunReader::Detail::without_images)) {
    Episode bare = (expected++)->second;
    for (record::Turn& turn : bare.turns)
      for (Part& part : turn.observation.parts) part.image = Image();
    require_equal(episode, bare);
  }
}

TEST_CASE("what a failed episode did not know of its task is there once one is done") {
  const test::TempFolder folder;
  Episode failed = make_failed_episode(3, 0);
  failed.task_id = "charts/test/3";
  failed.kind = failed.prompt = "";
  failed.gold = nullptr;
  for (const bool same_process : {true, false}) {
    const auto run = folder / (same_process ? "one" : "two");
    auto store = EpisodeStore::create(run, kConfig, false);
    store->record(failed);
    if (!same_process) {
      store.reset();
      store = EpisodeStore::create(run, kConfig, true);
    }
    store->record(make_episode(3, 0));
    store->record(failed);
    store->record(make_episode(3, 1));
    store->flush();
    require_equal(read_all(run).at(1), make_episode(3, 1));
  }
}

TEST_CASE("a run does not move in with other people's files") {
  const test::TempFolder folder;
  std::ofstream(folder / "config.json") << "{\"model_type\": \"qwen2_5_vl\"}";
  for (const bool resume : {false, true})
    REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder.path(), kConfig, resume); }),
                 Catch::Contains("holds other files (config.json)"));
  std::ifstream file(folder / "config.json");
  REQUIRE(std::string(std::istreambuf_iterator<char>(file), {}) == "{\"model_type\": \"qwen2_5_vl\"}");
  EpisodeStore::create(folder / "new", kConfig, false);
}

TEST_CASE("the recording time of a run is that of all its processes together") {
  const test::TempFolder folder;
  double before = 0;
  for (std::uint64_t task = 0; task < 3; ++task) {
    const auto store = EpisodeStore::create(folder / "run", kConfig, true);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    store->record(make_episode(task, 0));
    store->flush();
    const double seconds = RunReader::open(folder / "run")->seconds();
    REQUIRE(seconds >= before + 0.02);
    REQUIRE(seconds < before + 60);
    before = seconds;
  }
}

TEST_CASE("any bytes of a policy are kept, and absent values stay absent") {
  const test::TempFolder folder;
  Episode episode = make_episode(1, record::kGreedySample);
  episode.turns.resize(1);
  episode.turns[0].text = std::string("a\0b\xff\xc3('<>\n", 11);
  episode.turns[0].token_ids.clear();
  episode.turns[0].logprobs.clear();
  episode.turns[0].facts.info = nullptr;
  episode.answer = std::string("\0\xfe", 2);
  episode.score.reset();
  episode.gold = {1.5, "two", nullptr};
  EpisodeStore::create(folder / "run", kConfig, false)->record(episode);
  require_equal(read_all(folder / "run").at(0), episode);

  episode.turns[0].observation.parts = {Part::of(std::string("not \xff UTF-8"))};  // JSON cannot store it
  EpisodeStore::create(folder / "other", kConfig, false)->record(episode);
  REQUIRE(read_all(folder / "other").at(0).turns.at(0).observation.parts.at(0).text == "not \uFFFD UTF-8");
}

TEST_CASE("a picture that many turns show is stored once, also after a resume") {
  const test::TempFolder folder;
  for (int sample = 0; sample < 6; ++sample) {
    auto store = EpisodeStore::create(folder / "run", kConfig, true);
    for (std::uint64_t task = 0; task < 2; ++task) {
      Episode episode = make_episode(task, sample);
      for (record::Turn& turn : episode.turns) turn.observation.parts = {Part::of(test::picture(task))};
      store->record(episode);
    }
  }
  REQUIRE(count(folder / "run", "images") == 2);
  REQUIRE(count(folder / "run", "tasks") == 2);
  REQUIRE(count(folder / "run", "episodes") == 12);
}

TEST_CASE("a video is stored by its frames, each once, and read back whole") {
  const test::TempFolder folder;
  const Image first = test::picture(1), second = test::picture(2);
  const auto video = make_video({{first, second, first}, {0, 5, 9}, 12, 29.97});
  Episode episode = make_episode(3, 0);
  for (record::Turn& turn : episode.turns) turn.observation.parts = {Part::of(video), Part::of("What happens?")};
  EpisodeStore::create(folder / "run", kConfig, false)->record(episode);
  REQUIRE(count(folder / "run", "images") == 2);
  const std::vector<Episode> all = read_all(folder / "run");
  for (const record::Turn& turn : all.at(0).turns) {
    REQUIRE(turn.observation.parts.size() == 2);
    REQUIRE(turn.observation.parts[0].is_video());
    const Video& read = *turn.observation.parts[0].video;
    CHECK(read.hash() == video->hash());
    CHECK((read.places == video->places && read.source_frames == 12 && read.fps == 29.97));
    CHECK(read.frames[2] == first);
  }
  const std::vector<Episode> bare = read_all(folder / "run", RunReader::Detail::without_images);
  CHECK(bare.at(0).turns.at(0).observation.parts.at(0).is_text());
  execute(folder / "run", "UPDATE turns SET observation = replace(observation, '\"fps\"', '\"rate\"')");
  REQUIRE_THAT(error_of([&] { read_all(folder / "run"); }), Catch::Contains("video"));
}

TEST_CASE("many threads record at once, while a reader sees whole episodes only") {
  const test::TempFolder folder;
  auto store = EpisodeStore::create(folder / "run", kConfig, false);
  std::vector<std::jthread> threads;
  for (int sample = 0; sample < 8; ++sample)
    threads.emplace_back([&store, sample] {
      for (std::uint64_t task = 0; task < 50; ++task) store->record(make_episode(task, sample));
    });
  std::size_t seen = 0;
  for (int i = 0; i < 10; ++i) {
    const std::vector<Episode> all = read_all(folder / "run");
    REQUIRE(all.size() >= seen);
    seen = all.size();
    for (const Episode& episode : all)
      REQUIRE(episode.turns.size() == make_episode(episode.task_index, episode.sample).turns.size());
  }
  threads.clear();
  store->flush();
  REQUIRE(read_all(folder / "run").size() == 400);
  REQUIRE(store->finished().size() == 400);
}

TEST_CASE("a run is complete from finish until something more is recorded") {
  const test::TempFolder folder;
  auto store = EpisodeStore::create(folder / "run", kConfig, false);
  store->record(make_episode(0, 0));
  REQUIRE(RunReader::open(folder / "run")->summary().is_null());
  const Json summary = {{"suite", "charts"}, {"pass_at_1", 0.5}, {"score", nullptr}};
  store->finish(summary);
  REQUIRE(RunReader::open(folder / "run")->summary() == summary);
  store.reset();
  store = EpisodeStore::create(folder / "run", kConfig, true);
  REQUIRE(RunReader::open(folder / "run")->summary() == summary);
  store->record(make_episode(0, 1));
  store->flush();
  REQUIRE(RunReader::open(folder / "run")->summary().is_null());
}

TEST_CASE("a reader sees what is written after it has read a picture") {
  const test::TempFolder folder;
  auto store = EpisodeStore::create(folder / "run", kConfig, false);
  store->record_entry({0, 0, "seen", Json::object(), {test::picture(0)}});
  store->flush();
  const auto run = RunReader::open(folder / "run");
  const Hash128 hash = test::picture(0).hash();
  REQUIRE(run->image(hash.hex()).hash() == hash);
  store->finish({{"pictures", 1}});
  REQUIRE(run->summary() == Json{{"pictures", 1}});
}

TEST_CASE("resuming knows what is done, failed episodes are to be played again") {
  const test::TempFolder folder;
  {
    auto store = EpisodeStore::create(folder / "run", kConfig, false);
    store->record(make_episode(3, 0));
    store->record(make_failed_episode(3, 1));
  }
  auto store = EpisodeStore::create(folder / "run", kConfig, true);
  REQUIRE(store->finished() == std::set<Key>{{3, 0}});
  store->record(make_episode(3, 1));
  store->flush();
  REQUIRE(store->finished() == std::set<Key>{{3, 0}, {3, 1}});
  require_equal(read_all(folder / "run").at(1), make_episode(3, 1));
  REQUIRE(count(folder / "run", "episodes") == 2);
}

TEST_CASE("a run is neither overwritten nor resumed with another config") {
  const test::TempFolder folder;
  EpisodeStore::create(folder / "run", kConfig, false)->record(make_episode(0, 0));
  REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder / "run", kConfig, false); }),
               Catch::Contains("holds a run already") && Catch::Contains("--resume"));
  Json other = kConfig;
  other["sampling"]["temperature"] = 0.5;
  REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder / "run", other, true); }),
               Catch::Contains("has sampling.temperature = 1.0, not sampling.temperature = 0.5"));
  other = kConfig;
  other["level"] = 2;
  REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder / "run", other, true); }),
               Catch::Contains("has no level, not level = 2"));
  other = {{"seed", 1}, {"suite", "charts"}};
  REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder / "run", other, true); }),
               Catch::Contains("not no sampling"));
  other = kConfig;
  for (int i = 0; i < 6; ++i) other["key " + std::to_string(i)] = std::string(1000, 'x');
  const std::string told = error_of([&] { EpisodeStore::create(folder / "run", other, true); });
  REQUIRE_THAT(told, Catch::Contains("no key 0, not key 0 = \"xxx") && Catch::Contains("no key 3") &&
                         Catch::Contains("; and 2 more"));
  REQUIRE(told.size() < 1000);
  REQUIRE(read_all(folder / "run").size() == 1);
  std::ifstream file(folder / "run/config.json");
  REQUIRE(Json::parse(file) == kConfig);
}

TEST_CASE("two processes cannot record one run") {
  const test::TempFolder folder;
  auto store = EpisodeStore::create(folder / "run", kConfig, false);
  REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder / "run", kConfig, true); }),
               Catch::Contains("another process is recording a run here"));
  store.reset();
  REQUIRE(error_of([&] { EpisodeStore::create(folder / "run", kConfig, true); }) == "");
}

TEST_CASE("an output folder that cannot be written is one clear error") {
  const test::TempFolder folder;
  std::ofstream(folder / "file") << "text";
  REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder / "file/run", kConfig, false); }),
               Catch::Contains("file/run: the folder cannot be made: Not a directory"));
  REQUIRE_THAT(error_of([&] { EpisodeStore::create("/proc/agon", kConfig, false); }), Catch::Contains("/proc/agon: "));
}

TEST_CASE("a full disk stops the recording once, clearly, and keeps what was committed") {
  const test::TempFolder folder;
  const std::int64_t bytes = GENERATE(0, 30'000, 500'000);
  CAPTURE(bytes);
  std::size_t committed = 0;
  {
    auto store = EpisodeStore::create(folder / "run", kConfig, false);
    for (std::uint64_t task = 0; task < 20; ++task) store->record(make_episode(task, 0));
    store->flush();
    committed = 20;
    const SmallDisk disk(bytes);
    const std::string message = error_of([&] {
      for (std::uint64_t task = 20; task < 100'000; ++task) {
        store->record(make_episode(task, 0));
        store->flush();
        ++committed;
      }
    });
    REQUIRE_THAT(message, Catch::Contains("recording stopped: the disk is full") && Catch::Contains("--resume"));
    REQUIRE(error_of([&] { store->record(make_episode(1, 1)); }) == message);
    REQUIRE(error_of([&] { store->finish(Json::object()); }) == message);
    REQUIRE(read_all(folder / "run").size() == committed);
  }
  REQUIRE(RunReader::open(folder / "run")->summary().is_null());
  auto store = EpisodeStore::create(folder / "run", kConfig, true);  // after space was freed
  REQUIRE(store->finished().size() == committed);
  store->record(make_episode(committed, 0));
  store->flush();
  const std::vector<Episode> all = read_all(folder / "run");
  REQUIRE(all.size() == committed + 1);
  for (const Episode& episode : all) require_equal(episode, make_episode(episode.task_index, 0));
}

TEST_CASE("killed at any moment, a run resumes without a lost or doubled episode") {
  const test::TempFolder folder;
  auto* acknowledged = static_cast<std::atomic<std::uint64_t>*>(
      mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  constexpr std::uint64_t kTasks = 4000;
  Rng rng(11);
  std::size_t before = 0;
  for (int round = 0; round < 15 || (before == 0 && round < 200);
       ++round) {  // on a busy machine a child may write nothing
    const pid_t child = fork();
    if (child == 0) {
      auto store = EpisodeStore::create(folder / "run", kConfig, true);
      const std::set<Key> finished = store->finished();
      for (std::uint64_t task = 0; task < kTasks; ++task) {
        if (!finished.contains({task, 0})) store->record(make_episode(task, 0));
        if (task % 37 == 0) {
          store->flush();
          *acknowledged = std::max<std::uint64_t>(*acknowledged, task + 1);
        }
      }
      pause();
    }
    usleep(static_cast<useconds_t>(rng.between(1'000, 80'000 + 5'000 * round)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (!std::filesystem::exists(folder / "run/run.sqlite")) continue;
    if (count(folder / "run", "sqlite_master") == 0) continue;
    const std::vector<Episode> all = read_all(folder / "run");
    REQUIRE(all.size() >= *acknowledged);
    REQUIRE(all.size() >= before);
    before = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) require_equal(all[i], make_episode(i, 0));
  }
  REQUIRE(before > 0);
  auto store = EpisodeStore::create(folder / "run", kConfig, true);
  const std::set<Key> finished = store->finished();
  for (std::uint64_t task = 0; task < before + 10; ++task)
    if (!finished.contains({task, 0})) store->record(make_episode(task, 0));
  store->flush();
  const std::vector<Episode> all = read_all(folder / "run");
  REQUIRE(all.size() == before + 10);
  for (std::size_t i = 0; i < all.size(); ++i) require_equal(all[i], make_episode(i, 0));
  munmap(acknowledged, sizeof(std::atomic<std::uint64_t>));
}

TEST_CASE("a folder without a run, a foreign file and another schema version are told apart") {
  const test::TempFolder folder;
  REQUIRE_THAT(error_of([&] { RunReader::open(folder.path()); }), Catch::Contains("not a run folder"));
  std::filesystem::create_directory(folder / "text");
  std::ofstream(folder / "text/run.sqlite") << std::string(5000, 'x');
  REQUIRE_THAT(error_of([&] { RunReader::open(folder / "text"); }), Catch::Contains("file is not a database"));
  REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder / "text", kConfig, true); }),
               Catch::Contains("file is not a database"));
  std::filesystem::create_directory(folder / "foreign");
  execute(folder / "foreign", "CREATE TABLE run (id)");
  REQUIRE_THAT(error_of([&] { RunReader::open(folder / "foreign"); }), Catch::Contains("not a run of agon"));
  REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder / "foreign", kConfig, true); }),
               Catch::Contains("not a run of agon"));
  EpisodeStore::create(folder / "run", kConfig, false);
  execute(folder / "run", "PRAGMA user_version = 9");
  REQUIRE_THAT(error_of([&] { RunReader::open(folder / "run"); }),
               Catch::Contains("schema version 9; this agon reads versions 2 to 5"));
  REQUIRE_THAT(error_of([&] { EpisodeStore::create(folder / "run", kConfig, true); }),
               Catch::Contains("schema version 9"));
}

TEST_CASE("a training run's episodes keep their step and what every token was worth") {
  const test::TempFolder folder;
  const Episode trained = make_trained_episode(4, 1, 12), other = make_trained_episode(4, 2, 12);
  auto store = EpisodeStore::create(folder / "run", kConfig, false);
  store->record(make_trained_episode(4, 1, 12));
  store->record(other);
  store->record(trained);  // replaces the first
  store->record(make_episode(5, 0));
  store->flush();
  const std::vector<Episode> all = read_all(folder / "run");
  REQUIRE(all.size() == 3);
  require_equal(all[0], trained);
  require_equal(all[1], other);
  require_equal(all[2], make_episode(5, 0));
  REQUIRE(count(folder / "run", "token_credit") ==
          static_cast<std::int64_t>(trained.turns.size() + other.turns.size()));
}

TEST_CASE("metrics are read back in order of name and step, undefined ones too, and the last record stands") {
  const test::TempFolder folder;
  const double infinity = std::numeric_limits<double>::infinity();
  auto store = EpisodeStore::create(folder / "run", kConfig, false);
  REQUIRE(RunReader::open(folder / "run")->metrics().empty());
  store->record_metrics(10, {{"reward/total", 0.5}, {"policy/kl", infinity}});
  store->record_metrics(2, {{"reward/total", 0.25}, {"score/auc", std::nan("")}});
  store->record_metrics(10, {{"reward/total", 0.75}});
  store->flush();
  const std::map<std::string, record::Curve> metrics = RunReader::open(folder / "run")->metrics();
  REQUIRE(metrics.size() == 3);
  REQUIRE(metrics.at("reward/total") == record::Curve{{2, 0.25}, {10, 0.75}});
  REQUIRE(metrics.at("policy/kl") == record::Curve{{10, infinity}});
  REQUIRE(metrics.at("score/auc").size() == 1);
  REQUIRE(std::isnan(metrics.at("score/auc")[0].second));
}

TEST_CASE("a training run that goes on from a checkpoint forgets the later steps") {
  const test::TempFolder folder;
  const bool same_process = GENERATE(true, false);
  auto store = EpisodeStore::create(folder / "run", kConfig, false);
  store->record(make_episode(100, 0));  // without a step
  for (int step = 0; step < 6; ++step) {
    for (int sample = 0; sample < 2; ++sample)
      store->record(make_trained_episode(static_cast<std::uint64_t>(step), sample, step));
    store->record_metrics(step, {{"reward/total", step}});
  }
  store->finish({{"steps", 6}});
  if (!same_process) {
    store.reset();
    store = EpisodeStore::create(folder / "run", kConfig, true);
  }
  store->forget_after(5);
  REQUIRE(!RunReader::open(folder / "run")->summary().is_null());  // nothing was removed
  store->forget_after(3);
  REQUIRE(RunReader::open(folder / "run")->summary().is_null());
  REQUIRE(RunReader::open(folder / "run")->metrics().at("reward/total") ==
          record::Curve{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
  REQUIRE(store->finished() == std::set<Key>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 0}, {3, 1}, {100, 0}});
  REQUIRE(count(folder / "run", "tasks") == 5);
  store->record(make_trained_episode(4, 0, 4));  // its task's row returns
  store->flush();
  require_equal(RunReader::open(folder / "run")->episode(4, 0), make_trained_episode(4, 0, 4));
  store->forget_after(-1);
  REQUIRE(count(folder / "run", "metrics") == 0);
  REQUIRE(count(folder / "run", "token_credit") == 0);
  REQUIRE(read_all(folder / "run").size() == 1);
}

TEST_CASE("killed at any moment, a training run's steps are whole and none is missing before the last") {
  const test::TempFolder folder;
  Rng rng(12);
  std::size_t steps = 0;
  for (int round = 0; round < 8 || (steps == 0 && round < 200); ++round) {
    const pid_t child = fork();
    if (child == 0) {
      auto store = EpisodeStore::create(folder / "run", kConfig, true);
      store->forget_after(static_cast<std::int64_t>(steps / 2) - 1);
      for (auto step = static_cast<int>(steps / 2); step < 100'000; ++step) {
        store->record(make_trained_episode(static_cast<std::uint64_t>(step), 0, step));
        store->record_metrics(step, {{"a", step}, {"b", step}, {"c", std::nan("")}});
        if (step % 11 == 0) store->flush();
      }
      pause();
    }
    usleep(static_cast<useconds_t>(rng.between(1'000, 80'000 + 5'000 * round)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (!std::filesystem::exists(folder / "run/run.sqlite") || count(folder / "run", "sqlite_master") == 0) continue;
    const std::map<std::string, record::Curve> metrics = RunReader::open(folder / "run")->metrics();
    if (metrics.empty()) continue;
    REQUIRE(metrics.at("a") == metrics.at("b"));
    steps = metrics.at("a").size();
    REQUIRE(metrics.at("c").size() == steps);
    for (std::size_t i = 0; i < steps; ++i) REQUIRE(metrics.at("a")[i].first == static_cast<std::int64_t>(i));
    const auto run = RunReader::open(folder / "run");
    for (std::size_t i = 0; i < steps; i += 97)
      require_equal(run->episode(i, 0), make_trained_episode(i, 0, static_cast<int>(i)));
  }
  REQUIRE(steps > 0);
}

TEST_CASE("a journal is kept in order, and the last entry of each is found") {
  const test::TempFolder folder;
  const Image picture = test::picture(5);
  {
    auto store = EpisodeStore::create(folder / "run", kConfig, false);
    for (std::int64_t number = 0; number < 30; ++number)
      for (const std::uint64_t task : {7, 2})
        store->record_entry({task, number, number == 29 && task == 2 ? "result" : "write", {{"n", number}}, {picture}});
    store->flush();
  }
  const auto run = RunReader::open(folder / "run");
  const auto journal = run->journal(7);
  REQUIRE(journal.size() == 30);
  for (std::int64_t number = 0; number < 30; ++number) {
    REQUIRE(journal[static_cast<std::size_t>(number)].number == number);
    REQUIRE(journal[static_cast<std::size_t>(number)].body == Json{{"n", number}});
  }
  REQUIRE(run->journal(1).empty());
  const auto ends = run->journal_ends("result");
  REQUIRE(ends.size() == 1);
  REQUIRE((ends[0].task_index == 2 && ends[0].number == 29));
  REQUIRE(run->image(picture.hash().hex()).hash() == picture.hash());
  execute(folder / "run", "DELETE FROM journal WHERE task_index = 7 AND number = 3");
  REQUIRE_THAT(error_of([&] { RunReader::open(folder / "run")->journal(7); }), Catch::Contains("lacks an entry"));
  execute(folder / "run", "UPDATE journal SET body = 'no json' WHERE task_index = 2 AND number = 29");
  const auto damaged = RunReader::open(folder / "run");
  constexpr const char* kWhat = "entry 29 (result) of the journal of task 2 is damaged";
  REQUIRE_THAT(error_of([&] { damaged->journal(2); }), Catch::Contains(kWhat));
  REQUIRE_THAT(error_of([&] { damaged->journal_ends("result"); }), Catch::Contains(kWhat));
  int told = 0;
  REQUIRE(damaged->journal_ends("result", [&](const Error&) { ++told; }).empty());
  REQUIRE(told == 1);
}

TEST_CASE("a run from before there was training is read, and resumed") {
  const test::TempFolder folder;
  EpisodeStore::create(folder / "run", kConfig, false)->record(make_episode(3, 0));
  execute(folder / "run",
          "DROP INDEX episode_key; ALTER TABLE episodes DROP COLUMN step; DROP TABLE metrics; DROP TABLE token_credit; "
          "DROP VIEW search_steps; DROP VIEW search_verdicts; DROP TABLE journal; PRAGMA user_version = 2");
  REQUIRE(RunReader::open(folder / "run")->metrics().empty());
  require_equal(RunReader::open(folder / "run")->episode(3, 0), make_episode(3, 0));
  auto store = EpisodeStore::create(folder / "run", kConfig, true);
  store->record(make_trained_episode(4, 0, 1));
  store->record_metrics(1, {{"reward/total", 1}});
  store->flush();
  require_equal(RunReader::open(folder / "run")->episode(3, 0), make_episode(3, 0));
  require_equal(RunReader::open(folder / "run")->episode(4, 0), make_trained_episode(4, 0, 1));
  REQUIRE(RunReader::open(folder / "run")->metrics().size() == 1);
}

TEST_CASE("a task that a training run plays again keeps the episodes of both steps") {
  const test::TempFolder folder;
  {
    const auto store = EpisodeStore::create(folder / "run", kConfig, false);
    for (const int step : {1, 7}) store->record(make_trained_episode(3, 0, step));
    store->record(make_trained_episode(3, 0, 7));  // the same step again replaces the first
  }
  std::vector<std::optional<std::int64_t>> steps;
  const auto run = RunReader::open(folder / "run");
  run->for_each([&](const Episode& episode) { steps.push_back(episode.train_step); }, RunReader::Detail::whole);
  REQUIRE(steps == std::vector<std::optional<std::int64_t>>{1, 7});
  require_equal(run->episode(3, 0), make_trained_episode(3, 0, 7));
  EpisodeStore::create(folder / "run", kConfig, true)->forget_after(5);
  require_equal(RunReader::open(folder / "run")->episode(3, 0), make_trained_episode(3, 0, 1));
}

TEST_CASE("a damaged run is an error that names the file, not a crash") {
  const test::TempFolder folder;
  EpisodeStore::create(folder / "run", kConfig, false)->record(make_trained_episode(0, 0, 0));
  REQUIRE_THAT(error_of([&] { RunReader::open(folder / "run")->episode(5, 0); }),
               Catch::Contains("no episode of task 5, sample 0"));
  const std::string damage =
      GENERATE(as<std::string>{}, "UPDATE turns SET observation = '[{'",
               "UPDATE turns SET observation = '[{\"image\": \"nowhere\"}]'", "UPDATE turns SET token_ids = x'010203'",
               "UPDATE tasks SET gold = 'x'", "UPDATE images SET png = x'89504e47'", "DROP TABLE turns",
               "UPDATE token_credit SET turn = turn + 7", "UPDATE token_credit SET advantage = x'010203'");
  CAPTURE(damage);
  execute(folder / "run", damage);
  REQUIRE_THAT(error_of([&] { read_all(folder / "run"); }), Catch::Contains("run.sqlite: "));
}

TEST_CASE("a run on a read-only medium can be read") {
  const test::TempFolder folder;
  const bool killed = GENERATE(false, true);
  CAPTURE(killed);
  const pid_t writer = fork();
  if (writer == 0) {
    auto store = EpisodeStore::create(folder / "run", kConfig, false);
    store->record(make_episode(0, 0));
    store->flush();
    if (!killed) store.reset();
    _exit(0);
  }
  waitpid(writer, nullptr, 0);
  REQUIRE(std::filesystem::exists(folder / "run/run.sqlite-wal") == killed);
  chmod(folder.path().c_str(), 0755);
  chmod((folder / "run").c_str(), 0555);
  const pid_t reader = fork();
  if (reader == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);  // root may write anywhere
    try {
      _exit(read_all(folder / "run").size() == 1 ? 0 : 1);
    } catch (const Error& error) {
      fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  }
  int status = 0;
  waitpid(reader, &status, 0);
  chmod((folder / "run").c_str(), 0755);
  REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
