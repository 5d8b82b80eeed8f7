// prompt_bench FOLDER STRINGS PICTURE [rounds] - how fast prompts are prepared, on one thread: every line of STRINGS
// (one JSON string) to tokens, and a decoded picture to patches. Prints medians in milliseconds as one JSON object.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "agents/hub/model_folder.h"
#include "agents/hub/pictures/image_processor.h"
#include "core/error.h"
#include "core/json_parse.h"
#include "core/pictures/image.h"

namespace {

using namespace agon;
using Clock = std::chrono::steady_clock;

double median_milliseconds(int rounds, const std::function<void()>& work) {
  std::vector<double> each;
  work();
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    work();
    each.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(each.begin(), each.end());
  return each[each.size() / 2];
}

std::vector<std::string> read_strings(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> strings;
  for (std::string line; std::getline(file, line);) {
    const SortedJson text = parse_json(line).value;
    if (!text.is_string()) throw Error("{}: not a JSON text: {}", path, line);
    strings.push_back(text.get<std::string>());
  }
  if (strings.empty()) throw Error("{}: it has no texts.", path);
  return strings;
}

void run(const std::string& folder, const std::string& strings_file, const std::string& picture_file, int rounds) {
  const agents::ModelFolder model = agents::open_model_folder(folder);
  const std::vector<std::string> strings = read_strings(strings_file);
  const Image picture = load_image(picture_file);
  std::size_t tokens = 0, patches = 0;
  const double encoding = median_milliseconds(rounds, [&] {
    tokens = 0;
    for (const std::string& text : strings) tokens += model.tokenizer->encode(text).size();
  });
  const double patching =
      median_milliseconds(rounds, [&] { patches = agents::process_image(picture, model.images).patches.size(); });
  fmt::print(R"({{"strings": {}, "tokens": {}, "tokenise_ms": {:.2f}, "values": {}, "picture_ms": {:.2f}}})"
             "\n",
             strings.size(), tokens, encoding, patches, patching);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    fmt::print(stderr, "usage: prompt_bench FOLDER STRINGS PICTURE [rounds]\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3], argc > 4 ? std::atoi(argv[4]) : 5);
  } catch (const Error& error) {
    fmt::print(stderr, "prompt_bench: {}\n", error.what());
    return 1;
  }
}
