// serve/request_fields.h - reads the keys of a request's JSON object as typed values. A key that is null counts as
// absent. All functions throw Refused, with the key and its value, for a value of the wrong type or out of range.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_parse.h"
#include "serve/api_error.h"

namespace agon::serve {

inline constexpr std::size_t kMostTextBytes = 1 << 20;  // of one text to be tokenised or scored

// Parses a body, which has to be a JSON object.
SortedJson read_body(std::string_view body);

class RequestFields {
 public:
  explicit RequestFields(const SortedJson& object);  // must outlive this
  const SortedJson& at(const std::string& key) const;
  bool has(const std::string& key) const { return !at(key).is_null(); }
  bool flag(const std::string& key, bool otherwise) const;
  double number(const std::string& key, double low, double high, double otherwise) const;
  std::int64_t whole(const std::string& key, std::int64_t low, std::int64_t high, std::int64_t otherwise) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  std::vector<std::string> texts(const std::string& key) const;  // a text or a list of texts; absent: none
  std::vector<std::int32_t> token_ids(const std::string& key) const;

 private:
  const SortedJson& object_;
};

std::vector<std::int32_t> token_ids_in(const SortedJson& list, const std::string& name);

}  // namespace agon::serve
