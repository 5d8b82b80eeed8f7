#include "agents/hub/gguf.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "agents/hub/tensor_type.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "paths.h"
#include "temp_folder.h"

namespace agon::agents {
namespace {

using Catch::Contains;

const std::string kSmall = agon::test::golden_path("gguf/small.gguf");

std::string bytes_of_small() { return read_file(kSmall); }

// What reading the file's bytes, changed, gives.
std::string error_of(const std::string& bytes) {
  const agon::test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "changed.gguf";
  write_file_atomically(file.string(), bytes);
  try {
    GgufFile::open(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string with(std::size_t at, std::string_view replaced) { return bytes_of_small().replace(at, replaced.size(), replaced); }

template <typename Number>
std::string as_bytes(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

TEST_CASE("gguf: keys and tensors of every type are those that the package gguf reads") {
  const auto file = GgufFile::open(kSmall);
  const Json expected = Json::parse(read_file(agon::test::golden_path("gguf/expected.json")));
  for (const auto& [name, value] : expected["keys"].items()) {
    CAPTURE(name);
    CHECK(file->keys().at(name) == value);
  }
  REQUIRE(file->tensors().size() == expected["tensors"].size());
  for (const auto& [name, tensor] : expected["tensors"].items()) {
    CAPTURE(name);
    const TensorView& view = file->tensors().at(name);
    CHECK(view.dtype == tensor["type"]);
    CHECK(Json(view.shape) == tensor["shape"]);
    const auto wanted = tensor["values"].get<std::vector<float>>();
    std::vector<float> values(wanted.size());
    read_values(*find_tensor_type(view.dtype), view.bytes, values);
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(values[i] == Approx(wanted[i]).margin(1e-7));
  }
}

TEST_CASE("gguf: a file that is cut off anywhere is refused") {
  const std::string whole = bytes_of_small();
  for (std::size_t size = 0; size < whole.size(); size += size < 1000 ? 1 : 37) {
    const std::string error = error_of(whole.substr(0, size));
    CAPTURE(size);
    CHECK_THAT(error, Contains("Is the download complete?"));
  }
}

TEST_CASE("gguf: a file that lies is refused with what is wrong") {
  CHECK_THAT(error_of(with(0, "GGML")), Contains("does not begin with GGUF"));
  CHECK_THAT(error_of(with(4, as_bytes(std::uint32_t{9}))), Contains("version 9"));
  CHECK_THAT(error_of(with(8, as_bytes(~std::uint64_t{0}))), Contains("tensors; at most"));
  CHECK_THAT(error_of(with(16, as_bytes(~std::uint64_t{0}))), Contains("keys; at most"));
  CHECK_THAT(error_of(with(24, as_bytes(~std::uint64_t{0}))), Contains("name of a key"));
  const std::string whole = bytes_of_small();
  const std::size_t list = whole.find("a.numbers") + 9;
  CHECK_THAT(error_of(with(list, as_bytes(std::uint32_t{77}))), Contains("unknown type 77"));
  CHECK_THAT(error_of(with(list + 4, as_bytes(std::uint32_t{9}))), Contains("list of lists"));
  CHECK_THAT(error_of(with(list + 8, as_bytes(std::uint64_t{1} << 60))), Contains("values, and"));
  const std::size_t tensor = whole.find("plain.f32") + 9;  // dimensions, sides, type, offset
  CHECK_THAT(error_of(with(tensor, as_bytes(std::uint32_t{400}))), Contains("400 dimensions"));
  CHECK_THAT(error_of(with(tensor + 4, as_bytes(std::uint64_t{0}))), Contains("a side of 0"));
  CHECK_THAT(error_of(with(tensor + 4, as_bytes(std::uint64_t{1} << 50))), Contains("a side of"));
  CHECK_THAT(error_of(with(tensor + 4, as_bytes(std::uint64_t{1} << 30))), Contains("of the data on"));
  CHECK_THAT(error_of(with(tensor + 20, as_bytes(std::uint32_t{11}))), Contains("GGUF's type 11, which agon does not read"));
  CHECK_THAT(error_of(with(tensor + 20, as_bytes(std::uint32_t{2}))), Contains("rows of 5, and blocks of Q4_0 are of 32"));
  CHECK_THAT(error_of(with(tensor + 24, as_bytes(std::uint64_t{1} << 60))), Contains("of the data on"));
  CHECK_THAT(error_of(with(tensor + 24, as_bytes(std::uint64_t{1}))), Contains("not at a multiple of 32"));
  CHECK_THAT(error_of(with(tensor + 24, as_bytes(std::uint64_t{64}))), Contains("share the byte"));
  CHECK_THAT(error_of(with(whole.find("plain.f16"), "plain.f32")), Contains("plain.f32 occurs twice"));
  CHECK_THAT(error_of(with(whole.find("a.i16"), "a.u16")), Contains("a.u16 occurs twice"));
}

}  // namespace
}  // namespace agon::agents
