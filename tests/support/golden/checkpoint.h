// tests/support/golden/checkpoint.h - the random tiny models of tests/golden/qwen2_5_vl and qwen_vl with the results of
// transformers, and a tokenizer for their vocabulary of 48.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"
#include "agents/hub/prompt.h"
#include "agents/hub/safetensors.h"
#include "agents/hub/tokenizer/tokenizer.h"
#include "core/json.h"
#include "core/text.h"
#include "paths.h"

namespace agon::test {

// Ids 0..25 are "a".."z", 26 is "ab", 27 and 28 are the two bytes of "é", 29..39 digits and signs; 40..44 are special
// (44 ends a turn); 45..47 are unused.
class LetterTokenizer : public agents::Tokenizer {
 public:
  std::vector<std::int32_t> encode(std::string_view text, bool, agents::TextPlace) const override {
    std::vector<std::int32_t> ids;
    for (const char letter : text) ids.push_back(letter >= 'a' && letter <= 'z' ? letter - 'a' : 29);
    return ids;
  }
  std::string decode(std::span<const std::int32_t> ids, bool, agents::TextPlace) const override {
    std::string text;
    for (const std::int32_t id : ids) text += token_bytes(id);
    return text;
  }
  std::string token_bytes(std::int32_t id) const override {
    static const std::vector<std::string> kOthers{"ab", "\xc3", "\xa9", " ", "0",   "1",   "2",   "3",   "4",  "5",
                                                  "6",  "7",    "8",    "9", "<a>", "<b>", "<c>", "<d>", "<e>"};
    if (id < 26) return std::string(1, static_cast<char>('a' + id));
    return id < vocab_size() ? kOthers[static_cast<std::size_t>(id - 26)] : "";
  }
  std::optional<std::int32_t> id_of(std::string_view) const override { return std::nullopt; }
  bool is_special(std::int32_t id) const override { return id >= 40; }
  int vocab_size() const override { return 45; }
  std::string json() const override { return ""; }
};

struct GoldenCheckpoint {
  std::filesystem::path folder;
  agents::ModelConfig config;
  std::shared_ptr<const agents::SafetensorsFile> file;
  int rows = 0, columns = 0, width = 0;  // rows and columns of ids; width of a patch

  template <typename T>
  std::vector<T> values(const std::string& name) const {
    const agents::TensorView& tensor = file->tensors().at(name);
    std::vector<T> all(tensor.bytes.size() / sizeof(T));
    std::memcpy(all.data(), tensor.bytes.data(), tensor.bytes.size());
    return all;
  }
  std::vector<agents::ImageGrid> grids() const {
    std::vector<agents::ImageGrid> all;
    const auto flat = values<std::int64_t>("grids");
    const auto steps = file->tensors().contains("steps") ? values<std::int64_t>("steps")
                                                         : std::vector<std::int64_t>(flat.size() / 3, 1);
    for (std::size_t i = 0; i < flat.size(); i += 3)
      all.push_back({static_cast<int>(flat[i]), static_cast<int>(flat[i + 1]), static_cast<int>(flat[i + 2]),
                     static_cast<int>(steps[i / 3])});
    return all;
  }
  std::vector<std::shared_ptr<const agents::PatchedImage>> images() const {
    std::vector<std::shared_ptr<const agents::PatchedImage>> all;
    const auto patches = values<float>("patches");
    auto at = patches.begin();
    for (const agents::ImageGrid& grid : grids()) {
      const auto end = at + static_cast<std::ptrdiff_t>(grid.patches()) * width;
      agents::PatchedImage image{grid, {at, end}, {}};
      image.hash = hash_bytes(
          {reinterpret_cast<const std::uint8_t*>(image.patches.data()), image.patches.size() * sizeof(float)});
      all.push_back(std::make_shared<const agents::PatchedImage>(std::move(image)));
      at = end;
    }
    return all;
  }
  // The prompt of a row with its pictures, cut after `length` ids (0: whole).
  agents::EncodedPrompt prompt(int row, std::size_t length = 0) const {
    const auto ids = values<std::int64_t>("ids");
    const auto lengths = values<std::int64_t>("lengths");
    agents::EncodedPrompt prompt;
    std::int64_t image_tokens = 0, skipped = 0;
    const auto all = images();
    std::size_t image = 0;
    const auto count_tokens = [&](int r, std::int64_t end) {
      std::int64_t count = 0;
      for (std::int64_t i = 0; i < end; ++i)
        count += config.shows(static_cast<std::int32_t>(ids[static_cast<std::size_t>(r * columns + i)]));
      return count;
    };
    for (int r = 0; r < row; ++r) skipped += count_tokens(r, columns);
    for (; skipped > 0; ++image) skipped -= all[image]->grid.patches() / 4;
    const std::int64_t end = length > 0 ? static_cast<std::int64_t>(length) : lengths[static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; i < end; ++i)
      prompt.ids.push_back(static_cast<std::int32_t>(ids[static_cast<std::size_t>(row * columns + i)]));
    for (image_tokens = count_tokens(row, end); image_tokens > 0; ++image) {
      prompt.images.push_back(all[image]);
      image_tokens -= all[image]->grid.patches() / 4;
    }
    return prompt;
  }
};

// set: the folder of tests/golden; results: the folder of golden.safetensors, if it is another one.
inline GoldenCheckpoint golden_checkpoint(const std::string& name, const std::string& set = "qwen2_5_vl",
                                          const std::string& results = "") {
  GoldenCheckpoint model;
  model.folder = golden_path(set) / name;
  const std::string path = (model.folder / "config.json").string();
  model.config = agents::parse_model_config(Json::parse(read_file(path)), path);
  model.file =
      agents::SafetensorsFile::open(golden_path(results.empty() ? set : results) / name / "golden.safetensors");
  const auto& shape = model.file->tensors().at("ids").shape;
  model.rows = static_cast<int>(shape[0]);
  model.columns = static_cast<int>(shape[1]);
  model.width = static_cast<int>(model.file->tensors().at("patches").shape[1]);
  return model;
}

}  // namespace agon::test
