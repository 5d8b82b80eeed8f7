#include "agents/hub/gguf/writer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "agents/hub/tensor_type.h"
#include "core/error.h"
#include "core/file.h"
#include "kernels/half.h"
#include "kernels/linear/bfloat/linear.h"

namespace agon::agents {
namespace {

constexpr std::int64_t kAlignment = 32;

template <typename Number>
void add(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void add(std::string& bytes, const std::string& text) {
  add<std::uint64_t>(bytes, text.size());
  bytes += text;
}

enum class WrittenKey : std::uint32_t { u32 = 4, i32 = 5, f32 = 6, boolean = 7, text = 8, list = 9 };
void add(std::string& bytes, WrittenKey type) { add(bytes, static_cast<std::uint32_t>(type)); }

struct AddValue {
  std::string& bytes;
  void operator()(const std::string& text) const { add(bytes, WrittenKey::text), add(bytes, text); }
  void operator()(std::uint32_t number) const { add(bytes, WrittenKey::u32), add<std::uint32_t>(bytes, number); }
  void operator()(float number) const { add(bytes, WrittenKey::f32), add<float>(bytes, number); }
  void operator()(bool is) const { add(bytes, WrittenKey::boolean), add<std::uint8_t>(bytes, is ? 1 : 0); }
  void operator()(const std::vector<std::string>& texts) const {
    begin_list(WrittenKey::text, texts.size());
    for (const std::string& text : texts) add(bytes, text);
  }
  void operator()(const std::vector<std::int32_t>& numbers) const {
    begin_list(WrittenKey::i32, numbers.size());
    for (const std::int32_t number : numbers) add<std::int32_t>(bytes, number);
  }
  void operator()(const std::vector<float>& numbers) const {
    begin_list(WrittenKey::f32, numbers.size());
    for (const float number : numbers) add<float>(bytes, number);
  }
  void operator()(const std::vector<bool>& flags) const {
    begin_list(WrittenKey::boolean, flags.size());
    for (const bool is : flags) add<std::uint8_t>(bytes, is ? 1 : 0);
  }
  void begin_list(WrittenKey type, std::size_t size) const {
    add(bytes, WrittenKey::list);
    add(bytes, type);
    add<std::uint64_t>(bytes, size);
  }
};

void add_row(std::string& bytes, const float* row, std::int64_t count) {
  bytes.append(reinterpret_cast<const char*>(row), static_cast<std::size_t>(count) * sizeof(float));
}
void add_halves(std::string& bytes, const float* row, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) add<std::uint16_t>(bytes, kernels::float_to_half(row[i]));
}
void add_bfloats(std::string& bytes, const float* row, std::int64_t count) {
  const std::size_t begin = bytes.size();
  bytes.resize(begin + static_cast<std::size_t>(count) * 2);
  std::vector<std::uint16_t> rounded(static_cast<std::size_t>(count));
  kernels::round_to_bfloat(row, count, rounded.data());
  std::memcpy(bytes.data() + begin, rounded.data(), rounded.size() * 2);
}
// A block is its scale, then its codes: signed bytes for Q8_0; for Q4_0 code i in the low half of a byte, i + 16 in the
// high one.
void add_q8_0(std::string& bytes, const float* row, std::int64_t count) {
  RowCodes codes;
  make_row_codes(kEightBits, row, static_cast<int>(count), codes);
  for (std::int64_t k = 0; k < count; ++k) {
    if (k % 32 == 0) add<std::uint16_t>(bytes, kernels::float_to_half(codes.scales[static_cast<std::size_t>(k / 32)]));
    bytes += static_cast<char>(codes.codes[static_cast<std::size_t>(k)] ^ 128);
  }
}
void add_q4_0(std::string& bytes, const float* row, std::int64_t count) {
  RowCodes codes;
  make_row_codes(kFourBits, row, static_cast<int>(count), codes);
  for (std::size_t block = 0; block < codes.scales.size(); ++block) {
    add<std::uint16_t>(bytes, kernels::float_to_half(codes.scales[block]));
    for (std::size_t i = 32 * block; i < 32 * block + 16; ++i)
      bytes += static_cast<char>(codes.codes[i] | codes.codes[i + 16] << 4);
  }
}

struct WrittenType {
  std::string_view name;
  std::uint32_t number;
  void (*add)(std::string& bytes, const float* row, std::int64_t count);
};
constexpr std::array kWritten = {WrittenType{"F32", 0, add_row}, WrittenType{"F16", 1, add_halves},
                                 WrittenType{"Q4_0", 2, add_q4_0}, WrittenType{"Q8_0", 8, add_q8_0},
                                 WrittenType{"BF16", 30, add_bfloats}};
const WrittenType* find_written(std::string_view name) {
  const auto found =
      std::find_if(kWritten.begin(), kWritten.end(), [&](const auto& type) { return type.name == name; });
  return found == kWritten.end() ? nullptr : &*found;
}

std::int64_t aligned(std::int64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

std::int64_t bytes_of(const GgufTensor& tensor, const std::filesystem::path& path) {
  const TensorType& type = *find_tensor_type(tensor.type);
  if (tensor.shape.back() % type.block != 0)
    throw Error("{}: {} has rows of {} values, and {} keeps {} together. Choose F16 or BF16.", path.string(),
                tensor.name, tensor.shape.back(), tensor.type, type.block);
  std::int64_t values = 1;
  for (const std::int64_t side : tensor.shape) values *= side;
  return values / type.block * type.bytes;
}

void write_rows(FileWriter& file, const GgufTensor& tensor) {
  constexpr std::size_t kAtOnce = 1 << 20;
  std::string bytes;
  const WrittenType& type = *find_written(tensor.type);
  tensor.each_row([&](const float* row) {
    type.add(bytes, row, tensor.shape.back());
    if (bytes.size() < kAtOnce) return;
    file.write(bytes);
    bytes.clear();
  });
  file.write(bytes);
}

}  // namespace

bool writes_gguf_type(std::string_view type) { return find_written(type) != nullptr; }

void write_gguf(const std::filesystem::path& path, const std::vector<GgufKey>& keys,
                const std::vector<GgufTensor>& tensors) {
  std::string head = "GGUF";
  add<std::uint32_t>(head, 3);
  add<std::uint64_t>(head, tensors.size());
  add<std::uint64_t>(head, keys.size());
  for (const GgufKey& key : keys) {
    add(head, key.name);
    std::visit(AddValue{head}, key.value);
  }
  std::int64_t offset = 0;
  for (const GgufTensor& tensor : tensors) {
    add(head, tensor.name);
    add<std::uint32_t>(head, static_cast<std::uint32_t>(tensor.shape.size()));
    for (auto side = tensor.shape.rbegin(); side != tensor.shape.rend(); ++side)
      add<std::uint64_t>(head, static_cast<std::uint64_t>(*side));
    add<std::uint32_t>(head, find_written(tensor.type)->number);
    add<std::uint64_t>(head, static_cast<std::uint64_t>(offset));
    offset += aligned(bytes_of(tensor, path));
  }
  const auto padding = [](std::int64_t size) {
    return std::string(static_cast<std::size_t>(aligned(size) - size), '\0');
  };
  FileWriter file(path);
  file.write(head + padding(std::ssize(head)));
  for (const GgufTensor& tensor : tensors) {
    write_rows(file, tensor);
    file.write(padding(bytes_of(tensor, path)));
  }
  file.commit();
}

}  // namespace agon::agents
