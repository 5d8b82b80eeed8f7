#include "critic/message_json.h"

#include <catch2/catch.hpp>
#include <map>

#include "fixtures/episode.h"

using namespace agon;

TEST_CASE("messages with texts, pictures and videos are written and read back, with every picture named") {
  const auto video = make_video({test::picture(1), test::picture(2)}, 2);
  const std::vector<Message> messages = {
      Message::of(Role::system, "Look."),
      {Role::user, {Part::of(video), Part::of(test::picture(3)), Part::of("\xff odd")}, {}, {}}};
  std::vector<Image> images;
  const Json json = Json::parse(critic::messages_json(messages, images).dump());
  std::map<std::string, Image> by_hash;
  for (const Image& image : images) by_hash[image.hash().hex()] = image;
  CHECK(by_hash.size() == 3);
  const auto again = critic::messages_in(json, [&](const std::string& hash) { return by_hash.at(hash); });
  REQUIRE(again.size() == 2);
  CHECK(again[0].role == Role::system);
  REQUIRE(again[1].parts.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(again[1].parts[i].content() == messages[1].parts[i].content());
  CHECK(again[1].parts[0].is_video());
}
