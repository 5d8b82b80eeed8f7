#include "agents/hub/safetensors.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <set>

#include "agents/hub/json_file.h"
#include "agents/hub/mapped_file.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestHeader = 100'000'000;     // the reference reader's limit
constexpr std::uint64_t kLargestSize = (1ull << 62) - 1;  // limit of a dimension or an offset

struct DataType {
  const char* name;
  std::uint64_t bits;
};
// Sorted by alignment; the writer puts larger alignments first, as the reference does.
constexpr std::array<DataType, 20> kDataTypes{
    {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8},
     {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16}, {"BF16", 16}, {"I32", 32},
     {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},    {"I64", 64}, {"U64", 64}}};

std::optional<std::size_t> type_rank(const std::string& name) {
  const auto found =
      std::find_if(kDataTypes.begin(), kDataTypes.end(), [&](const DataType& type) { return name == type.name; });
  if (found == kDataTypes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kDataTypes.begin());
}

// Bytes of a tensor; nullopt for an unknown type, a negative size, an overflow, or a partial last byte.
std::optional<std::uint64_t> tensor_bytes(const std::string& dtype, const std::vector<std::int64_t>& shape) {
  const auto rank = type_rank(dtype);
  if (!rank) return std::nullopt;
  std::uint64_t bits = kDataTypes[*rank].bits;
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bits, static_cast<std::uint64_t>(size), &bits)) return std::nullopt;
  if (bits % 8) return std::nullopt;
  return bits / 8;
}

class MappedSafetensors : public SafetensorsFile {
 public:
  explicit MappedSafetensors(const fs::path& path) : path_(path.string()), mapping_(path) { read(); }
  const std::map<std::string, TensorView>& tensors() const override { return tensors_; }
  const std::map<std::string, std::string>& metadata() const override { return metadata_; }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("{}: {}. Is the download complete?", path_, what);
  }
  [[noreturn]] void fail(const std::string& tensor, const std::string& what) const {
    fail(fmt::format("tensor '{}': {}", tensor, what));
  }

  void read() {
    const auto bytes = mapping_.bytes();
    if (bytes.size() < 8) fail(fmt::format("{} bytes, shorter than a safetensors header", bytes.size()));
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | bytes[static_cast<std::size_t>(i)];
    if (length > kLargestHeader) fail(fmt::format("header of {} bytes; the limit is {}", length, kLargestHeader));
    if (length > bytes.size() - 8)
      fail(fmt::format("header of {} bytes, but the file has {} in all", length, bytes.size()));
    const auto header = bytes.subspan(8, length);
    if (header.empty() || header.front() != '{') fail("the header does not start with '{'");
    data_ = bytes.subspan(8 + length);
    const nlohmann::json entries = parse_header(header);
    for (const auto& [name, entry] : entries.items())
      if (name == "__metadata__")
        read_metadata(entry);
      else
        read_tensor(name, entry);
    check_coverage();
  }

  // A map with sorted keys, because the ordered one searches all keys at every insertion.
  nlohmann::json parse_header(std::span<const std::uint8_t> header) const {
    std::vector<std::set<std::string>> names(2);
    const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
      using Event = nlohmann::json::parse_event_t;
      if (depth > 3) fail("the header is nested too deeply");
      if (event == Event::object_start && depth < 2) names[static_cast<std::size_t>(depth)].clear();
      if (event == Event::key && depth <= 2 &&
          !names[static_cast<std::size_t>(depth) - 1].insert(value.get<std::string>()).second)
        fail(fmt::format("the header names {} twice", value.dump()));
      return true;
    };
    try {
      return nlohmann::json::parse(header.begin(), header.end(), watch);
    } catch (const nlohmann::json::exception& error) {
      fail(fmt::format("the header is not JSON ({})", error.what()));
    }
  }

  void read_metadata(const nlohmann::json& entry) {
    if (!entry.is_object()) fail("__metadata__ is not an object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) fail(fmt::format("__metadata__ '{}' is not a text", key));
      metadata_[key] = value.get<std::string>();
    }
  }

  void read_tensor(const std::string& name, const nlohmann::json& entry) {
    if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets"))
      fail(name, "its entry is not {dtype, shape, data_offsets}");
    if (!entry["dtype"].is_string()) fail(name, "dtype is not a text");
    TensorView view;
    view.dtype = entry["dtype"].get<std::string>();
    if (!type_rank(view.dtype)) fail(name, fmt::format("unknown dtype '{}'", view.dtype));
    for (const std::uint64_t size : naturals(name, entry["shape"], "shape"))
      view.shape.push_back(static_cast<std::int64_t>(size));
    const auto offsets = naturals(name, entry["data_offsets"], "data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_.size())
      fail(name, fmt::format("data_offsets {} do not lie in the file's {} bytes of data", entry["data_offsets"].dump(),
                             data_.size()));
    const auto expected = tensor_bytes(view.dtype, view.shape);
    if (!expected || *expected != offsets[1] - offsets[0])
      fail(name, fmt::format("{} {} needs {} bytes, data_offsets give {}", view.dtype, entry["shape"].dump(),
                             expected ? std::to_string(*expected) : "impossibly many", offsets[1] - offsets[0]));
    view.bytes = data_.subspan(offsets[0], *expected);
    tensors_.emplace(name, std::move(view));
  }

  std::vector<std::uint64_t> naturals(const std::string& name, const nlohmann::json& list, const char* what) const {
    if (!list.is_array()) fail(name, fmt::format("{} is not a list", what));
    std::vector<std::uint64_t> result;
    for (const auto& item : list) {
      const auto whole = whole_number<std::uint64_t>(item, 0, kLargestSize);
      if (!whole) fail(name, fmt::format("{} holds {}", what, item.dump()));
      result.push_back(*whole);
    }
    return result;
  }

  void check_coverage() const {
    std::vector<std::pair<const std::string*, std::span<const std::uint8_t>>> order;
    for (const auto& [name, view] : tensors_) order.emplace_back(&name, view.bytes);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.data(), a.second.size()) < std::pair(b.second.data(), b.second.size());
    });
    const std::uint8_t* end = data_.data();
    for (const auto& [name, bytes] : order) {
      if (bytes.data() != end)
        fail(*name, fmt::format("begins at byte {} of the data, the tensor before it ends at {}",
                                bytes.data() - data_.data(), end - data_.data()));
      end = bytes.data() + bytes.size();
    }
    if (end != data_.data() + data_.size())
      fail(fmt::format("the tensors end at byte {} of {} bytes of data", end - data_.data(), data_.size()));
  }

  std::string path_;
  MappedFile mapping_;
  std::span<const std::uint8_t> data_;
  std::map<std::string, TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

// The shard files of an index, without duplicates, sorted by name.
std::map<std::string, std::set<std::string>> read_index(const fs::path& path) {
  const auto json = nlohmann::json::parse(read_small_file(path), nullptr, false);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    throw Error("{}: no \"weight_map\" object. Is the download complete?", path.string());
  std::map<std::string, std::set<std::string>> shards;
  for (const auto& [name, file] : json["weight_map"].items()) {
    if (!file.is_string() || fs::path(file.get<std::string>()).filename() != file.get<std::string>())
      throw Error("{}: the file of tensor '{}' is {}, not a plain file name.", path.string(), name, file.dump());
    shards[file.get<std::string>()].insert(name);
  }
  return shards;
}

using Metadata = std::map<std::string, std::string>;

// The names of tensors in the order in which the file stores them.
template <typename Tensor>
std::vector<std::string> file_order(const std::map<std::string, Tensor>& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return *type_rank(tensors.at(a).dtype) > *type_rank(tensors.at(b).dtype);
  });
  return names;
}

template <typename Tensor>
std::string header_text(const std::map<std::string, Tensor>& tensors, const Metadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const std::string& name : file_order(tensors)) {
    const Tensor& tensor = tensors.at(name);
    const std::uint64_t end = offset + *tensor_bytes(tensor.dtype, tensor.shape);
    header[name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

// bytes_of(tensor): a range of bytes.
template <typename Tensor>
void write_file(const fs::path& path, const std::map<std::string, Tensor>& tensors, const Metadata& metadata,
                const auto& bytes_of) {
  const std::string header = header_text(tensors, metadata);
  std::string length;
  for (std::uint64_t rest = header.size(); length.size() < 8; rest >>= 8) length += static_cast<char>(rest & 255);
  FileWriter file(path);
  file.write(length);
  file.write(header);
  for (const std::string& name : file_order(tensors)) {
    const auto& bytes = bytes_of(tensors.at(name));
    file.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  file.commit();
}

}  // namespace

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const fs::path& path) {
  return std::make_shared<MappedSafetensors>(path);
}

std::string hub_name(const std::string& name) {
  for (const auto& [prefix, hub] :
       {std::pair<std::string, std::string>{"model.visual.", "visual."}, {"model.language_model.", "model."}})
    if (name.starts_with(prefix)) return hub + name.substr(prefix.size());
  return name;
}

std::string nested_name(const std::string& hub_name) {
  constexpr std::string_view kModel = "model.";
  if (hub_name.starts_with("visual.")) return "model." + hub_name;
  return hub_name.starts_with(kModel) ? "model.language_model." + hub_name.substr(kModel.size()) : hub_name;
}

std::vector<std::shared_ptr<const SafetensorsFile>> open_checkpoint_weights(const fs::path& folder) {
  if (fs::exists(folder / "model.safetensors")) return {SafetensorsFile::open(folder / "model.safetensors")};
  const fs::path index = folder / "model.safetensors.index.json";
  if (!fs::exists(index))
    throw Error("{}: neither model.safetensors nor model.safetensors.index.json. Is it a model folder?",
                folder.string());
  std::vector<std::shared_ptr<const SafetensorsFile>> files;
  for (const auto& [file, names] : read_index(index)) {
    files.push_back(SafetensorsFile::open(folder / file));
    std::set<std::string> found;
    for (const auto& [name, view] : files.back()->tensors()) found.insert(name);
    if (found != names)
      throw Error("{}: holds {} tensors that do not match the {} that {} names for it. Is the download complete?",
                  (folder / file).string(), found.size(), names.size(), index.filename().string());
  }
  return files;
}

void write_safetensors(const fs::path& path, const std::map<std::string, TensorView>& tensors,
                       const Metadata& metadata) {
  for (const auto& [name, view] : tensors)
    if (tensor_bytes(view.dtype, view.shape) != view.bytes.size())
      throw Error("{}: tensor '{}': {} bytes do not fit its dtype {} and shape.", path.string(), name,
                  view.bytes.size(), view.dtype);
  write_file(path, tensors, metadata, [](const TensorView& view) { return view.bytes; });
}

void write_safetensors(const fs::path& path, const std::map<std::string, TensorMaker>& tensors,
                       const Metadata& metadata) {
  write_file(path, tensors, metadata, [](const TensorMaker& tensor) {
    std::vector<std::uint8_t> bytes = tensor.make();
    assert(bytes.size() == tensor_bytes(tensor.dtype, tensor.shape));
    return bytes;
  });
}

}  // namespace agon::agents
