#include "agents/learn/loop/config_paths.h"

#include "core/file.h"
#include "temp_folder.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;

namespace {

constexpr const char* kKeys[] = {"/output", "/data/*", "/sources/*/writer"};
constexpr const char* kConfig = R"(
output: ../runs/a
data: [./p.jsonl, /far/q.jsonl]
sources: [{suite: charts, writer: models/m}, {suite: shapes}]
other: ../runs/a
)";

}  // namespace

TEST_CASE("config paths: those at the keys are changed, in lists too, and nothing else") {
  Json config{{"output", "a"}, {"data", {"b", "", 7}}, {"sources", {{{"writer", "c"}}, {{"suite", "d"}}}}, {"e", "f"}};
  change_paths(config, kKeys, [](const std::string& path) { return "<" + path + ">"; });
  CHECK(config == Json{{"output", "<a>"},
                       {"data", {"<b>", "", 7}},
                       {"sources", {{{"writer", "<c>"}}, {{"suite", "d"}}}},
                       {"e", "f"}});
  for (Json odd : {Json(), Json("x"), Json{{"data", "x"}}, Json{{"sources", {1, 2}}}}) {
    const Json before = odd;
    change_paths(odd, kKeys, [](const std::string&) { return "changed"; });
    CHECK(odd == before);
  }
}

TEST_CASE("config paths: a path of the file as it is typed in the working folder, and back") {
  CHECK(from_working_folder("a.yaml", "runs/x") == "runs/x");
  CHECK(from_working_folder("conf/a.yaml", "../runs/x") == "runs/x");
  CHECK(from_working_folder("../conf/a.yaml", "b") == "../conf/b");
  CHECK(from_working_folder("conf/a.yaml", "/b/c") == "/b/c");
  CHECK(from_file("conf/a.yaml", "runs/x") == "../runs/x");
  CHECK(from_file("a.yaml", "runs/x") == "runs/x");
  CHECK(from_file("conf/a.yaml", "/b/c") == "/b/c");
}

TEST_CASE("config paths: a config is relative to its file, and changes to the working folder") {
  const test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "a.yaml";
  write_file_atomically(file.string(), kConfig);
  const Json plain = read_config(file, {}, kKeys);
  CHECK(plain["output"] == "../runs/a");
  CHECK(plain["data"] == Json{"./p.jsonl", "/far/q.jsonl"});  // as they were written
  CHECK(plain["sources"][0]["writer"] == "models/m");
  const std::string here = std::filesystem::current_path().string();
  const Json changed = read_config(file, std::vector<std::string>{"output=runs/b", "sources.0.writer=w"}, kKeys);
  const auto seen = [&](const Json& path) { return from_working_folder(file, path.get<std::string>()); };
  CHECK(seen(changed["output"]) == here + "/runs/b");
  CHECK(seen(changed["sources"][0]["writer"]) == here + "/w");
  CHECK(changed["other"] == "../runs/a");
}
