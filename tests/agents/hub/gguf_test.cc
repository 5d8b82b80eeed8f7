#include "agents/hub/gguf/file.h"

#include <catch2/catch.hpp>
#include <cmath>
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

// The error of reading a file with these bytes.
std::string gguf_error(const std::string& bytes) {
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

std::string with(std::size_t at, std::string_view replaced) {
  return bytes_of_small().replace(at, replaced.size(), replaced);
}

template <typename Number>
std::string as_bytes(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

TEST_CASE("gguf: keys and tensors of every type are those that the package gguf reads") {
  const auto file = GgufFile::open(kSmall);
  const Json expected = Json::parse(read_file(agon::test::golden_path("gguf/expected.json")));
  for (const auto& [name, value] : expected["keys"].items()) {
    CAPTURE(name);
    CHECK((value.is_array() ? file->list(name) : file->keys().at(name)) == value);
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

TEST_CASE("gguf: codes with their scales are the values, and the kernels keep them to half precision") {
  const auto file = GgufFile::open(kSmall);
  const Json expected = Json::parse(read_file(agon::test::golden_path("gguf/expected.json")));
  int seen = 0;
  for (const auto& [name, view] : file->tensors()) {
    const TensorType& type = *find_tensor_type(view.dtype);
    if (!type.format || view.shape.size() != 2) continue;
    ++seen;
    CAPTURE(name, view.dtype);
    const auto wanted = expected["tensors"][name]["values"].get<std::vector<float>>();
    const int outputs = static_cast<int>(view.shape[0]), inputs = static_cast<int>(view.shape[1]);
    const std::size_t row_bytes = view.bytes.size() / static_cast<std::size_t>(outputs);
    RowCodes row;
    const std::span<const std::uint8_t> bytes = view.bytes;
    const auto row_of = [&, bytes](int n) {
      read_row_codes(type, bytes.data() + static_cast<std::size_t>(n) * row_bytes, inputs, row);
      return kernels::CodedRow{row.codes.data(), row.scales.data(), row.offsets.empty() ? nullptr : row.offsets.data()};
    };
    const kernels::CodedLinear packed = kernels::pack_coded_linear(*type.format, outputs, inputs, nullptr, row_of, {});
    std::vector<float> values(static_cast<std::size_t>(inputs));
    for (int n = 0; n < outputs; ++n) {
      row_of(n);
      kernels::decode_row(packed, n, values.data());
      for (int k = 0; k < inputs; ++k) {
        const auto group = static_cast<std::size_t>(k / type.format->group), at = static_cast<std::size_t>(k);
        const float offset = row.offsets.empty() ? 0.0f : row.offsets[group];
        const float value = row.scales[group] * static_cast<float>(row.codes[at] - type.format->middle) + offset;
        const float exact = wanted[static_cast<std::size_t>(n * inputs + k)];
        CHECK(value == Approx(exact).margin(1e-7));
        const float most = std::abs(row.scales[group]) * static_cast<float>(1 << type.format->bits) + std::abs(offset);
        CHECK(std::abs(values[at] - exact) <= most * 0x1p-11f);
      }
    }
  }
  CHECK(seen == 8);
}

TEST_CASE("codes of numbers: eight bits and four, as ggml makes them") {
  std::vector<float> values(70, 0.0f);
  values[0] = -12.7f;
  values[1] = 0.1f;
  values[33] = 4;
  values[69] = -8;
  RowCodes row;
  make_row_codes(kEightBits, values.data(), 70, row);
  REQUIRE(row.scales.size() == 3);
  CHECK(row.scales[0] == Approx(0.1));
  CHECK(row.codes[0] == 1);
  CHECK(row.codes[1] == 129);
  CHECK(row.codes[2] == 128);
  make_row_codes(kFourBits, values.data(), 70, row);
  CHECK(row.scales[0] == Approx(12.7 / 8));
  CHECK(row.codes[0] == 0);
  CHECK(row.scales[1] == Approx(-0.5));
  CHECK(row.codes[33] == 0);
  CHECK(row.codes[32] == 8);
  CHECK(row.scales[2] == 1);
  CHECK(row.codes[69] == 0);
}

TEST_CASE("codes of numbers: one that is not finite is told by its scale, wherever it stands") {
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()})
    for (const int place : {32, 45, 63}) {
      std::vector<float> values(96, 1.0f);
      values[static_cast<std::size_t>(place)] = wrong;
      for (const kernels::CodeFormat& format : {kEightBits, kFourBits}) {
        RowCodes row;
        make_row_codes(format, values.data(), 96, row);
        CHECK(std::isfinite(row.scales[0]));
        CHECK(std::isnan(row.scales[1]));
        CHECK(std::isfinite(row.scales[2]));
      }
    }
}

TEST_CASE("gguf: a file that is cut off anywhere is refused") {
  const std::string whole = bytes_of_small();
  for (std::size_t size = 0; size < whole.size(); size += size < 1000 ? 1 : 37) {
    const std::string error = gguf_error(whole.substr(0, size));
    CAPTURE(size);
    CHECK_THAT(error, Contains("Is the download complete?"));
  }
}

TEST_CASE("gguf: a file that lies is refused with what is wrong") {
  CHECK_THAT(gguf_error(with(0, "GGML")), Contains("does not begin with GGUF"));
  CHECK_THAT(gguf_error(with(4, as_bytes(std::uint32_t{9}))), Contains("version 9"));
  CHECK_THAT(gguf_error(with(8, as_bytes(~std::uint64_t{0}))), Contains("tensors; at most"));
  CHECK_THAT(gguf_error(with(16, as_bytes(~std::uint64_t{0}))), Contains("keys; at most"));
  CHECK_THAT(gguf_error(with(24, as_bytes(~std::uint64_t{0}))), Contains("name of a key"));
  const std::string whole = bytes_of_small();
  const std::size_t list = whole.find("a.numbers") + 9;
  CHECK_THAT(gguf_error(with(list, as_bytes(std::uint32_t{77}))), Contains("unknown type 77"));
  CHECK_THAT(gguf_error(with(list + 4, as_bytes(std::uint32_t{9}))), Contains("list of lists"));
  CHECK_THAT(gguf_error(with(list + 8, as_bytes(std::uint64_t{1} << 60))), Contains("values, and"));
  const std::size_t tensor = whole.find("plain.f32") + 9;  // dimensions, sides, type, offset
  CHECK_THAT(gguf_error(with(tensor, as_bytes(std::uint32_t{400}))), Contains("400 dimensions"));
  CHECK_THAT(gguf_error(with(tensor + 4, as_bytes(std::uint64_t{0}))), Contains("a side of 0"));
  CHECK_THAT(gguf_error(with(tensor + 4, as_bytes(std::uint64_t{1} << 50))), Contains("a side of"));
  CHECK_THAT(gguf_error(with(tensor + 4, as_bytes(std::uint64_t{1} << 30))), Contains("of the data on"));
  CHECK_THAT(gguf_error(with(tensor + 20, as_bytes(std::uint32_t{11}))),
             Contains("GGUF's type 11, which agon does not read"));
  CHECK_THAT(gguf_error(with(tensor + 20, as_bytes(std::uint32_t{2}))),
             Contains("rows of 5, and blocks of Q4_0 are of 32"));
  CHECK_THAT(gguf_error(with(tensor + 24, as_bytes(std::uint64_t{1} << 60))), Contains("of the data on"));
  CHECK_THAT(gguf_error(with(tensor + 24, as_bytes(std::uint64_t{1}))), Contains("not at a multiple of 32"));
  CHECK_THAT(gguf_error(with(tensor + 24, as_bytes(std::uint64_t{64}))), Contains("share the byte"));
  CHECK_THAT(gguf_error(with(whole.find("plain.f16"), "plain.f32")), Contains("\"plain.f32\" occurs twice"));
  CHECK_THAT(gguf_error(with(whole.find("a.i16"), "a.u16")), Contains("a.u16 occurs twice"));
}

}  // namespace
}  // namespace agon::agents
