#include "sandbox/message.h"

#include <cstdint>
#include <vector>

#include "sandbox/frame.h"

namespace agon::sandbox {
namespace {

constexpr int kDeepest = 16;  // messages of host and launcher are nested three deep

class BoundedReader : public nlohmann::detail::json_sax_dom_parser<Json> {
 public:
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;
  explicit BoundedReader(Json& message) : Base(message, false) {}
  bool start_object(std::size_t size) { return ++depth_ <= kDeepest && Base::start_object(size); }
  bool start_array(std::size_t size) { return ++depth_ <= kDeepest && Base::start_array(size); }
  bool end_object() { return --depth_ >= 0 && Base::end_object(); }
  bool end_array() { return --depth_ >= 0 && Base::end_array(); }

 private:
  int depth_ = 0;
};

}  // namespace

std::string message_frame(const Json& message) {
  const std::vector<std::uint8_t> bytes = Json::to_cbor(message);
  return make_frame({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The reader is recursive: it stops before deep nesting uses up the stack.
std::optional<Json> read_message(std::string_view payload) try {
  Json message;
  BoundedReader reader(message);
  if (!Json::sax_parse(payload, &reader, Json::input_format_t::cbor)) return std::nullopt;
  return message.is_object() ? std::optional(std::move(message)) : std::nullopt;
} catch (const Json::exception&) {  // excessive sizes throw even so
  return std::nullopt;
}

}  // namespace agon::sandbox
