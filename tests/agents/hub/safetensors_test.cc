#include "agents/hub/safetensors.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "paths.h"
#include "temp_folder.h"

namespace agon::agents {
namespace {

using Catch::Matchers::Contains;
const std::filesystem::path kGolden = agon::test::golden_path("weights");

std::string file_of(std::uint64_t length, const std::string& header, const std::string& data) {
  std::string file;
  for (int i = 0; i < 8; ++i, length >>= 8) file += static_cast<char>(length & 255);
  return file + header + data;
}
std::string file_of(const std::string& header, const std::string& data) { return file_of(header.size(), header, data); }

// The error of opening a file with these bytes.
std::string safetensors_error(const std::string& bytes) {
  const test::TempFolder folder;
  write_file_atomically(folder / "bad.safetensors", bytes);
  try {
    SafetensorsFile::open(folder / "bad.safetensors");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::vector<float> floats(const TensorView& view) {
  std::vector<float> values(view.bytes.size() / 4);
  std::memcpy(values.data(), view.bytes.data(), view.bytes.size());
  return values;
}

TEST_CASE("safetensors: a file of the reference writer is read") {
  const auto file = SafetensorsFile::open(kGolden / "mixed.safetensors");
  const auto& tensors = file->tensors();
  REQUIRE(tensors.size() == 6);
  CHECK(tensors.at("b.weight").dtype == "F32");
  CHECK(tensors.at("b.weight").shape == std::vector<std::int64_t>{2, 3});
  CHECK(floats(tensors.at("b.weight")) == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(tensors.at("a.half").dtype == "BF16");
  CHECK(tensors.at("a.count").shape.empty());
  CHECK(tensors.at("a.count").bytes.size() == 8);
  CHECK(tensors.at("c.empty").bytes.empty());
  CHECK(file->metadata().at("format") == "pt");
}

TEST_CASE("safetensors: tensors that are made when they are written, one at a time, give the same file") {
  const test::TempFolder folder;
  const auto file = SafetensorsFile::open(kGolden / "mixed.safetensors");
  std::map<std::string, TensorMaker> makers;
  for (const auto& entry : file->tensors()) {
    const TensorView& view = entry.second;
    makers[entry.first] = {view.dtype, view.shape,
                           [&view] { return std::vector<std::uint8_t>(view.bytes.begin(), view.bytes.end()); }};
  }
  write_safetensors(folder / "made.safetensors", makers, file->metadata());
  write_safetensors(folder / "views.safetensors", file->tensors(), file->metadata());
  CHECK(read_file(folder / "made.safetensors") == read_file(folder / "views.safetensors"));
}

TEST_CASE("safetensors: what is written equals the reference writer's bytes") {
  const test::TempFolder folder;
  const auto file = SafetensorsFile::open(kGolden / "mixed.safetensors");
  // The reference writes several metadata entries in no fixed order; everything else is compared byte by byte.
  write_safetensors(folder / "one.safetensors", file->tensors(), file->metadata());
  const auto again = SafetensorsFile::open(folder / "one.safetensors");
  CHECK(again->metadata() == file->metadata());
  const auto first = SafetensorsFile::open(kGolden / "model-00001-of-00002.safetensors");
  write_safetensors(folder / "two.safetensors", first->tensors(), first->metadata());
  CHECK(read_file(folder / "two.safetensors") == read_file(kGolden / "model-00001-of-00002.safetensors"));
  const std::string expected = read_file(kGolden / "mixed.safetensors"),
                    written = read_file(folder / "one.safetensors");
  REQUIRE(written.size() == expected.size());
  CHECK(written.substr(written.find("\"a.count\"")) == expected.substr(expected.find("\"a.count\"")));
  CHECK_FALSE(std::filesystem::exists(folder / "one.safetensors.tmp"));
}

TEST_CASE("safetensors: an index opens every shard once") {
  const auto files = open_checkpoint_weights(kGolden);
  REQUIRE(files.size() == 2);
  CHECK(files[0]->tensors().count("first.weight") == 1);
  CHECK(floats(files[1]->tensors().at("second.weight")) == std::vector<float>{2, 2, 2, 2});
}

TEST_CASE("safetensors: an index is checked against its shards") {
  const test::TempFolder folder;
  std::filesystem::copy(kGolden, folder.path(), std::filesystem::copy_options::recursive);
  const auto error_for = [&](const std::string& index) -> std::string {
    write_file_atomically(folder / "model.safetensors.index.json", index);
    try {
      open_checkpoint_weights(folder.path());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  CHECK_THAT(error_for("{"), Contains("weight_map"));
  CHECK_THAT(error_for("[]"), Contains("weight_map"));
  CHECK_THAT(error_for(R"({"weight_map":{"first.weight":"../secret"}})"), Contains("not a plain file name"));
  CHECK_THAT(error_for(R"({"weight_map":{"first.weight":3}})"), Contains("not a plain file name"));
  CHECK_THAT(error_for(R"({"weight_map":{"first.weight":"gone.safetensors"}})"), Contains("gone.safetensors"));
  CHECK_THAT(error_for(R"({"weight_map":{"other":"model-00001-of-00002.safetensors"}})"), Contains("do not match"));
  std::filesystem::remove(folder / "model.safetensors.index.json");
  CHECK_THROWS_WITH(open_checkpoint_weights(folder.path()), Contains("neither model.safetensors nor"));
}

TEST_CASE("safetensors: a damaged file ends with one clear message") {
  const std::string good = R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", data(8, 'x');
  CHECK(safetensors_error(file_of(good, data)) == "no error");
  CHECK_THAT(safetensors_error(""), Contains("shorter than"));
  CHECK_THAT(safetensors_error("1234567"), Contains("shorter than"));
  CHECK_THAT(safetensors_error(file_of(good, data).substr(0, 30)), Contains("header of"));
  CHECK_THAT(safetensors_error(file_of(good, "xxxx")), Contains("do not lie in the file"));
  CHECK_THAT(safetensors_error(file_of(good, data + "y")), Contains("the tensors end at byte 8 of 9"));
  CHECK_THAT(safetensors_error(file_of(~0ull, good, data)), Contains("the limit is 100000000"));
  CHECK_THAT(safetensors_error(file_of(99'000'000, good, data)), Contains("but the file has"));
  CHECK_THAT(safetensors_error(file_of("", data)), Contains("does not start"));
  CHECK_THAT(safetensors_error(file_of(" " + good, data)), Contains("does not start"));
  CHECK_THAT(safetensors_error(file_of("{\"t\":", data)), Contains("not JSON"));
  CHECK_THAT(safetensors_error(file_of("{\"\xff\":1}", data)), Contains("not JSON"));
  CHECK_THAT(safetensors_error(file_of("{\"t\":" + std::string(100'000, '['), data)), Contains("nested too deeply"));
}

TEST_CASE("safetensors: a header that lies is refused") {
  const auto error_with = [](const std::string& entries) {
    return safetensors_error(file_of("{" + entries + "}", "12345678"));
  };
  const auto entry = [](const std::string& name, const std::string& dtype, const std::string& shape,
                        const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  const std::string f32 = "\"F32\"";
  CHECK(error_with(entry("a", f32, "[1]", "[0,4]") + "," + entry("b", f32, "[1]", "[4,8]")) == "no error");
  CHECK_THAT(error_with(entry("a", f32, "[2]", "[0,8]") + "," + entry("b", f32, "[1]", "[4,8]")), Contains("'b'"));
  CHECK_THAT(error_with(entry("a", f32, "[2]", "[0,8]") + "," + entry("b", f32, "[2]", "[0,8]")),
             Contains("begins at"));
  CHECK_THAT(error_with(entry("b", f32, "[1]", "[4,8]")), Contains("begins at byte 4"));
  CHECK_THAT(error_with(entry("a", f32, "[1]", "[0,4]")), Contains("end at byte 4 of 8"));
  CHECK_THAT(error_with(entry("a", f32, "[2]", "[0,8]") + "," + entry("a", f32, "[2]", "[0,8]")), Contains("twice"));
  CHECK_THAT(error_with("\"a\":{\"dtype\":\"F32\",\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,8]}"),
             Contains("twice"));
  CHECK_THAT(error_with(entry("a", f32, "[2]", "[8,0]")), Contains("data_offsets"));
  CHECK_THAT(error_with(entry("a", f32, "[2]", "[0,8,9]")), Contains("data_offsets"));
  CHECK_THAT(error_with(entry("a", f32, "[2]", "[-8,0]")), Contains("holds -8"));
  CHECK_THAT(error_with(entry("a", f32, "[2]", "[0,18446744073709551615]")), Contains("holds 1844"));
  CHECK_THAT(error_with(entry("a", f32, "[3]", "[0,8]")), Contains("needs 12 bytes, data_offsets give 8"));
  CHECK_THAT(error_with(entry("a", f32, "[4294967296,4294967296]", "[0,8]")), Contains("impossibly many"));
  CHECK_THAT(error_with(entry("a", f32, "[2.0]", "[0,8]")), Contains("shape holds 2.0"));
  CHECK_THAT(error_with(entry("a", f32, "2", "[0,8]")), Contains("shape is not a list"));
  CHECK_THAT(error_with(entry("a", "\"F4\"", "[1]", "[0,8]")), Contains("impossibly many"));
  CHECK_THAT(error_with(entry("a", "\"F31\"", "[2]", "[0,8]")), Contains("unknown dtype 'F31'"));
  CHECK_THAT(error_with(entry("a", "7", "[2]", "[0,8]")), Contains("dtype is not a text"));
  CHECK_THAT(error_with("\"a\":[0,8]"), Contains("its entry is not"));
  CHECK_THAT(error_with("\"a\":{\"dtype\":\"F32\",\"shape\":[2]}"), Contains("its entry is not"));
  CHECK_THAT(error_with("\"__metadata__\":3," + entry("a", f32, "[2]", "[0,8]")), Contains("__metadata__"));
  CHECK_THAT(error_with("\"__metadata__\":{\"k\":3}," + entry("a", f32, "[2]", "[0,8]")), Contains("__metadata__"));
}

TEST_CASE("safetensors: a path that is no file is refused") {
  const test::TempFolder folder;
  CHECK_THROWS_WITH(SafetensorsFile::open(folder / "none.safetensors"), Contains("cannot be opened"));
  CHECK_THROWS_WITH(SafetensorsFile::open(folder.path()), Contains("not a regular file"));
}

TEST_CASE("safetensors: writing fails loudly and leaves no partial file") {
  const test::TempFolder folder;
  const std::vector<std::uint8_t> bytes(8);
  const std::map<std::string, TensorView> wrong{{"t", {"F32", {3}, bytes}}}, right{{"t", {"F32", {2}, bytes}}};
  CHECK_THROWS_WITH(write_safetensors(folder / "w.safetensors", wrong), Contains("'t'"));
  CHECK_THROWS_WITH(write_safetensors(folder / "none" / "w.safetensors", right), Contains("cannot be written"));
  CHECK_THROWS_WITH(write_safetensors("/dev/full/w.safetensors", right), Contains("cannot be written"));
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace agon::agents
