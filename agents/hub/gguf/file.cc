#include "agents/hub/gguf/file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "agents/hub/mapped_file.h"
#include "agents/hub/tensor_type.h"
#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostKeys = 10'000, kMostTensors = 1'000'000, kMostDimensions = 4, kLongestName = 65'535;
constexpr std::uint64_t kLargestSide = 1ull << 40, kMostValues = 1 << 22, kLongestText = 1 << 26;

enum class KeyType { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64 };

// A tensor type that agon reads, and its number in the file.
struct NumberedType {
  std::uint32_t number;
  const char* name;
};
constexpr std::array kTypes = {NumberedType{0, "F32"},   NumberedType{1, "F16"},   NumberedType{2, "Q4_0"},
                               NumberedType{3, "Q4_1"},  NumberedType{6, "Q5_0"},  NumberedType{7, "Q5_1"},
                               NumberedType{8, "Q8_0"},  NumberedType{12, "Q4_K"}, NumberedType{13, "Q5_K"},
                               NumberedType{14, "Q6_K"}, NumberedType{30, "BF16"}};

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("{}: {}. Is the download complete?", path, what);
}

// Reads values one after another from the bytes of a file. Keeps references to bytes and path.
class GgufReader {
 public:
  GgufReader(std::span<const std::uint8_t> bytes, std::uint64_t at, const std::string& path)
      : bytes_(bytes), at_(at), path_(path) {}
  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return bytes_.size() - at_; }

  std::span<const std::uint8_t> take(std::uint64_t count, const char* what) {
    if (count > left())
      fail(path_, fmt::format("{} takes {} bytes at byte {}, and the file has {}", what, count, at_, bytes_.size()));
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  template <typename Number>
  Number number(const char* what) {
    Number value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }
  std::string_view text(const char* what, std::uint64_t longest) {
    const auto length = number<std::uint64_t>(what);
    if (length > longest) fail(path_, fmt::format("{} has {} bytes; at most {} are possible", what, length, longest));
    const auto bytes = take(length, what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::uint64_t count(const char* what, std::uint64_t most) {
    const auto value = number<std::uint64_t>(what);
    if (value > most) fail(path_, fmt::format("it has {} {}; at most {} are possible", value, what, most));
    return value;
  }
  KeyType key_type(const std::string& name) {
    const auto type = number<std::uint32_t>("the type of a key");
    if (type > static_cast<std::uint32_t>(KeyType::f64))
      fail(path_, fmt::format("the key {} is of the unknown type {}", name, type));
    return static_cast<KeyType>(type);
  }
  Json value(KeyType type, const std::string& name) {
    const char* const what = name.c_str();
    switch (type) {
      case KeyType::u8:
        return number<std::uint8_t>(what);
      case KeyType::i8:
        return number<std::int8_t>(what);
      case KeyType::u16:
        return number<std::uint16_t>(what);
      case KeyType::i16:
        return number<std::int16_t>(what);
      case KeyType::u32:
        return number<std::uint32_t>(what);
      case KeyType::i32:
        return number<std::int32_t>(what);
      case KeyType::f32:
        return number<float>(what);
      case KeyType::boolean:
        return number<std::uint8_t>(what) != 0;
      case KeyType::text:
        return std::string(text(what, kLongestText));  // not UTF-8 in general: a token may be any bytes
      case KeyType::u64:
        return number<std::uint64_t>(what);
      case KeyType::i64:
        return number<std::int64_t>(what);
      case KeyType::f64:
        return number<double>(what);
      case KeyType::list:
        break;
    }
    fail(path_, fmt::format("the key {} is a list of lists", name));
  }

 private:
  const std::span<const std::uint8_t> bytes_;
  std::uint64_t at_;
  const std::string& path_;
};

class MappedGguf : public GgufFile {
 public:
  explicit MappedGguf(const fs::path& path) : path_(path.string()), mapping_(path), bytes_(mapping_.bytes()) { read(); }
  const std::map<std::string, TensorView>& tensors() const override { return tensors_; }
  const Json& keys() const override { return keys_; }

  std::optional<Json> list(const std::string& key) const override {
    const auto found = lists_.find(key);
    if (found == lists_.end()) return std::nullopt;
    const auto& [type, length, at] = found->second;
    GgufReader values(bytes_, at, path_);
    Json list = Json::array();
    for (std::uint64_t i = 0; i < length; ++i) list.push_back(values.value(type, key));
    return list;
  }
  std::optional<std::vector<std::string_view>> texts(const std::string& key) const override {
    const auto found = lists_.find(key);
    if (found == lists_.end() || found->second.type != KeyType::text) return std::nullopt;
    GgufReader values(bytes_, found->second.at, path_);
    std::vector<std::string_view> texts;
    for (std::uint64_t i = 0; i < found->second.length; ++i) texts.push_back(values.text(key.c_str(), kLongestText));
    return texts;
  }

 private:
  void read() {
    const auto magic = reader_.take(4, "the beginning");
    if (std::memcmp(magic.data(), "GGUF", 4) != 0) fail(path_, "not a GGUF file: it does not begin with GGUF");
    const auto version = reader_.number<std::uint32_t>("the version");
    if (version != 2 && version != 3)
      fail(path_, fmt::format("version {} of GGUF is not known, only 2 and 3", version));
    const std::uint64_t tensors = reader_.count("tensors", kMostTensors), keys = reader_.count("keys", kMostKeys);
    for (std::uint64_t i = 0; i < keys; ++i) read_key();
    std::vector<Place> places;
    for (std::uint64_t i = 0; i < tensors; ++i) places.push_back(read_place());
    const std::uint64_t aligned = alignment(),
                        begin = std::min((reader_.at() + aligned - 1) / aligned * aligned, bytes_.size());
    for (const Place& place : places) add_tensor(place, bytes_.subspan(begin), aligned);
    check_overlap();
  }

  void read_key() {
    const std::string name(reader_.text("the name of a key", kLongestName));
    if (valid_utf8(name) != name) fail(path_, fmt::format("the name of a key is not UTF-8: {}", shown_text(name)));
    if (keys_.contains(name) || lists_.contains(name)) fail(path_, fmt::format("the key {} occurs twice", name));
    const KeyType type = reader_.key_type(name);
    if (type == KeyType::list)
      add_list(name);
    else
      keys_[name] = reader_.value(type, name);
  }
  struct List {
    KeyType type;
    std::uint64_t length, at;
  };
  // Records where the list's values are. Each value is read once to find the end of the list.
  void add_list(const std::string& name) {
    const KeyType type = reader_.key_type(name);
    const auto length = reader_.number<std::uint64_t>(name.c_str());
    if (length > reader_.left())  // each value has at least one byte
      fail(path_, fmt::format("the key {} has {} values, and {} bytes are left", name, length, reader_.left()));
    if (length > kMostValues)
      fail(path_, fmt::format("the key {} has {} values; at most {} are possible", name, length, kMostValues));
    lists_.emplace(name, List{type, length, reader_.at()});
    for (std::uint64_t i = 0; i < length; ++i) {
      if (type == KeyType::text)
        reader_.text(name.c_str(), kLongestText);
      else
        reader_.value(type, name);
    }
  }

  // The header entry of a tensor, with the offset of its data, which follows all keys and entries.
  struct Place {
    std::string name;
    std::vector<std::int64_t> shape;
    const TensorType* type;
    std::uint64_t offset, size;
  };
  Place read_place() {
    Place place;
    place.name = reader_.text("the name of a tensor", kLongestName);
    const auto dimensions = reader_.number<std::uint32_t>("the shape of a tensor");
    if (dimensions > kMostDimensions)
      fail(path_, fmt::format("the tensor {} has {} dimensions", shown_text(place.name), dimensions));
    std::uint64_t values = 1;
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      const auto side = reader_.number<std::uint64_t>("the shape of a tensor");
      if (side == 0 || side > kLargestSide || __builtin_mul_overflow(values, side, &values))
        fail(path_, fmt::format("the tensor {} has a side of {}", shown_text(place.name), side));
      place.shape.insert(place.shape.begin(), static_cast<std::int64_t>(side));
    }
    place.type = tensor_type(place.name);
    place.offset = reader_.number<std::uint64_t>("the place of a tensor");
    const std::int64_t row = place.shape.empty() ? 1 : place.shape.back(), block = place.type->block;
    if (row % block != 0)
      fail(path_, fmt::format("the tensor {} has rows of {}, and blocks of {} are of {}", shown_text(place.name), row,
                              place.type->name, block));
    if (__builtin_mul_overflow(values / static_cast<std::uint64_t>(block),
                               static_cast<std::uint64_t>(place.type->bytes), &place.size))
      fail(path_, fmt::format("the tensor {} is larger than any file", shown_text(place.name)));
    return place;
  }
  const TensorType* tensor_type(const std::string& name) {
    const auto number = reader_.number<std::uint32_t>("the type of a tensor");
    const auto found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& one) { return one.number == number; });
    if (found == kTypes.end())
      throw Error(
          "{}: the tensor {} is of GGUF's type {}, which agon does not read. It reads F32, F16, BF16, Q8_0, Q4_0, "
          "Q4_1, Q5_0, Q5_1, Q4_K, Q5_K and Q6_K.",
          path_, shown_text(name), number);
    return find_tensor_type(found->name);
  }

  std::uint64_t alignment() const {
    constexpr std::uint64_t kStandard = 32, kLargest = 1 << 20;
    if (!keys_.contains("general.alignment")) return kStandard;
    const auto given = whole_number<std::uint64_t>(keys_["general.alignment"], 1, kLargest);
    if (!given || !std::has_single_bit(*given))
      fail(path_, fmt::format("general.alignment is {}, not a power of two", keys_["general.alignment"].dump()));
    return *given;
  }
  void add_tensor(const Place& place, std::span<const std::uint8_t> data, std::uint64_t aligned) {
    if (place.offset > data.size() || place.size > data.size() - place.offset)
      fail(path_, fmt::format("the tensor {} takes {} bytes from {} of the data on, which has {}",
                              shown_text(place.name), place.size, place.offset, data.size()));
    if (place.offset % aligned != 0)
      fail(path_, fmt::format("the tensor {} lies at {}, not at a multiple of {}", shown_text(place.name), place.offset,
                              aligned));
    const TensorView view{std::string(place.type->name), place.shape, data.subspan(place.offset, place.size)};
    if (!tensors_.emplace(place.name, view).second)
      fail(path_, fmt::format("the tensor {} occurs twice", shown_text(place.name)));
  }
  void check_overlap() const {
    std::vector<std::pair<const std::uint8_t*, const std::uint8_t*>> order;
    for (const auto& [name, view] : tensors_)
      order.emplace_back(view.bytes.data(), view.bytes.data() + view.bytes.size());
    std::sort(order.begin(), order.end());
    for (std::size_t i = 1; i < order.size(); ++i)
      if (order[i].first < order[i - 1].second)
        fail(path_, fmt::format("two tensors share the byte {}", order[i].first - bytes_.data()));
  }

  const std::string path_;
  const MappedFile mapping_;
  const std::span<const std::uint8_t> bytes_;
  GgufReader reader_{bytes_, 0, path_};
  Json keys_ = Json::object();
  std::map<std::string, List> lists_;
  std::map<std::string, TensorView> tensors_;
};

}  // namespace

std::shared_ptr<const GgufFile> GgufFile::open(const fs::path& path) { return std::make_shared<MappedGguf>(path); }

}  // namespace agon::agents
