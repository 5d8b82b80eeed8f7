#include "agents/remote/chat_request.h"

#include <catch2/catch.hpp>
#include <span>
#include <string>

#include "core/base64.h"
#include "core/file.h"
#include "core/text.h"
#include "paths.h"

using namespace agon;
using namespace agon::agents;

namespace {

const std::string kPictures = test::golden_path("images/");

std::string bytes_behind(std::string_view url, std::string_view start) {
  REQUIRE(url.starts_with(start));
  const auto bytes = bytes_of_base64(url.substr(start.size()));
  REQUIRE(bytes);
  return {bytes->begin(), bytes->end()};
}
Image decoded(const std::string& file) {
  return decode_image({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "picture");
}

}  // namespace

TEST_CASE("a JPEG is sent as it came but for its metadata, everything else as a PNG") {
  PictureUrls urls(PictureForm::data_url);
  const Image jpeg = load_image(kPictures + "turned_1.jpg");
  const std::string sent = bytes_behind(urls.url_of(jpeg), "data:image/jpeg;base64,");
  CHECK(decoded(sent) == jpeg);
  CHECK(sent.find("Exif") == std::string::npos);
  CHECK(read_file(kPictures + "turned_1.jpg").find("Exif") != std::string::npos);
  for (const char* name : {"turned_6.jpg", "turned_6.webp", "rgb.png"}) {
    CAPTURE(name);
    const Image picture = load_image(kPictures + name);
    CHECK(decoded(bytes_behind(urls.url_of(picture), "data:image/png;base64,")) == picture);
  }
}

TEST_CASE("for a server that reads files the pictures are files as long as they are needed") {
  std::string jpeg, png;
  {
    PictureUrls urls(PictureForm::file_url);
    const Image first = load_image(kPictures + "turned_1.jpg"), second = load_image(kPictures + "rgb.png");
    jpeg = urls.url_of(first).substr(std::string_view("file://").size());
    png = urls.url_of(second).substr(std::string_view("file://").size());
    CHECK((jpeg.ends_with(".jpg") && png.ends_with(".png")));
    CHECK((load_image(jpeg) == first && load_image(png) == second));
  }
  CHECK_FALSE(std::filesystem::exists(jpeg));
}

TEST_CASE("a chat template goes with a turn that is continued, beside the user's own keys") {
  Endpoint endpoint;
  endpoint.extra_body = {{"chat_template_kwargs", {{"enable_thinking", false}}}};
  ServerTraits traits;
  traits.continuing = Continuing::chat_template;
  PictureUrls pictures(PictureForm::data_url);
  const PromptText text(test::source_path("models/agon-tiny"));
  const std::vector<Message> messages = {Message::of(Role::user, "Count.")};
  const auto keys_of = [&](const std::string& prefix) {
    return chat_body({.messages = messages, .prefix = prefix, .sampling = {}}, {endpoint, traits, pictures, &text})
        .at("chat_template_kwargs");
  };
  CHECK(keys_of("") == endpoint.extra_body["chat_template_kwargs"]);
  CHECK(keys_of("one") == Json{{"enable_thinking", false}, {"chat_template", text.continuing_jinja()}});
}
