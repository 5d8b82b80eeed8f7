#include "cli/model_folder.h"

#include <unistd.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

// A temporary folder for a test.
class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / ("agon-model-folder-" + std::to_string(::getpid()))) {
    fs::create_directories(path_ / "build/release/cli");
  }
  ~Scratch() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }
  fs::path add_model(const fs::path& relative) const {
    fs::create_directories(path_ / relative);
    std::ofstream(path_ / relative / "config.json") << "{}";
    return path_ / relative;
  }

 private:
  fs::path path_;
};

TEST_CASE("the default model is found above the program") {
  const Scratch scratch;
  const fs::path model = scratch.add_model(kDefaultModel);
  CHECK(find_model_folder("", scratch.path() / "build/release/cli") == model);
}

TEST_CASE("the model nearest to the program wins") {
  const Scratch scratch;
  scratch.add_model(kDefaultModel);
  const fs::path nearer = scratch.add_model(fs::path("build") / kDefaultModel);
  CHECK(find_model_folder("", scratch.path() / "build/release/cli") == nearer);
}

TEST_CASE("a default model that is nowhere is an error that names the places") {
  const Scratch scratch;
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  CHECK_THROWS_WITH(
      find_model_folder("", scratch.path() / "build"),
      Catch::Contains((scratch.path() / "build" / kDefaultModel).string()) && Catch::Contains("--policy"));
  fs::current_path(before);
}

TEST_CASE("the current folder is the last place") {
  const Scratch scratch;
  const fs::path model = scratch.add_model(fs::path("elsewhere") / kDefaultModel);
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path() / "elsewhere");
  CHECK(fs::equivalent(find_model_folder("", scratch.path() / "build"), model));
  fs::current_path(before);
}

TEST_CASE("a policy may be the folder of an adapter") {
  const Scratch scratch;
  fs::create_directories(scratch.path() / "role");
  std::ofstream(scratch.path() / "role/adapter_config.json") << "{}";
  const std::string folder = (scratch.path() / "role").string();
  CHECK(find_policy(folder + "/#q8").folder == folder);
  CHECK(find_policy(folder).name() == "role");
  CHECK_FALSE(find_policy(folder).choices.resampler);
  const auto chosen = find_policy(folder + "#torchvision#q8");
  CHECK(chosen.folder == folder);
  CHECK(chosen.choices ==
        agents::FolderChoices{.weights = agents::WeightKind::q8, .resampler = agents::Resampler::torchvision});
  CHECK_THROWS_WITH(find_model_folder(folder), Catch::Contains("is a LoRA adapter"));
}

TEST_CASE("a folder whose name ends like a choice is that folder") {
  const Scratch scratch;
  const fs::path model = scratch.add_model("role#q8");
  CHECK(find_policy(model.string()).folder == model);
  CHECK(find_policy(model.string()).choices == agents::FolderChoices{});
  const auto chosen = find_policy(model.string() + "#q4");
  CHECK(chosen.folder == model);
  CHECK(chosen.choices == agents::FolderChoices{.weights = agents::WeightKind::q4});
  CHECK(find_policy(scratch.add_model("other").string() + "#q8").choices.weights == agents::WeightKind::q8);
}

TEST_CASE("what agon pull has fetched is found by its name") {
  const Scratch scratch;
  const std::string commit(40, 'a');
  const fs::path repository = scratch.path() / "models--org--name";
  fs::create_directories(repository / "snapshots" / commit);
  fs::create_directories(repository / "refs");
  std::ofstream(repository / "refs/main") << commit;
  std::ofstream(repository / "snapshots" / commit / "config.json") << "{}";
  ::setenv("HF_HUB_CACHE", scratch.path().c_str(), 1);
  CHECK(find_model_folder("hf:org/name") == repository / "snapshots" / commit);
  CHECK(find_policy("hf:org/name#q8").folder == repository / "snapshots" / commit);
  CHECK_THROWS_WITH(find_model_folder("hf:org/other"), Catch::Contains("agon pull org/other"));
  ::unsetenv("HF_HUB_CACHE");
}

TEST_CASE("the type of a folder's weights and its device stand behind it") {
  const Scratch scratch;
  const fs::path model = scratch.add_model("mine");
  const auto named = [&](const std::string& ending) { return find_policy(model.string() + ending); };
  CHECK(named("").choices.device == agents::kCpuDevice);
  CHECK(named("#torch:cpu").choices.device == "torch:cpu");
  CHECK(named("#torch:cpu").folder == model);
  const agents::PolicySource both = named("#bf16#cuda:1");
  CHECK(both.choices.weights == agents::WeightKind::bf16);
  CHECK(both.choices.device == "cuda:1");
  CHECK_FALSE(both == named("#bf16"));
  CHECK(both == named("#cuda:1#bf16"));
  CHECK(named("#kv=q8").choices.keys == kernels::KeyType::q8);
  CHECK(named("#kv=q8").fingerprint().ends_with("#kv=q8"));
  CHECK_FALSE(named("#kv=q8") == named(""));
  CHECK(named("#q8#q8").choices.weights == agents::WeightKind::q8);
  for (const char* ending : {"#q8#bf16", "#kv=q8#q4#kv=bf16", "#cpu#torch:cpu", "#pil#torchvision"})
    CHECK_THROWS_WITH(named(ending), Catch::Contains("contradict each other"));
  for (const char* ending : {"#gpu", "#bf16#gpu#", "#bf16,cuda", "#kv=", "#kv=q4"})
    CHECK_THROWS_WITH(named(ending), Catch::Contains("is not a model folder"));
}

TEST_CASE("a folder that --policy names is taken, or refused when it holds no model") {
  const Scratch scratch;
  const fs::path model = scratch.add_model("mine");
  CHECK(find_model_folder(model.string()) == model);
  CHECK(find_model_folder(model.string() + "/") == model);  // its name is its last part
  CHECK(find_policy(model.string() + "#pil").fingerprint() != find_policy(model.string()).fingerprint());
  CHECK_THROWS_WITH(find_model_folder((scratch.path() / "none").string()),
                    Catch::Contains("none") && Catch::Contains("config.json"));
}

}  // namespace
}  // namespace agon::cli
