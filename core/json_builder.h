// core/json_builder.h - builds a JSON value from the events of nlohmann's parser. Derived classes limit what is built,
// or take parts out as they arrive.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"

namespace agon {

template <typename AnyJson>
class JsonBuilder : public AnyJson::json_sax_t {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*written*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(typename AnyJson::binary_t&) override { return false; }  // JSON has none
  bool start_object(std::size_t) override { return open(AnyJson::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(AnyJson::array()); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    member_ = &innermost()[name];
    return true;
  }

  AnyJson take() { return std::move(root_); }

 protected:
  // The events above call these; returning true continues the parsing. add() gets all values except lists and objects,
  // which are opened and closed.
  virtual bool add(AnyJson value) {
    place(std::move(value));
    return true;
  }
  virtual bool open(AnyJson empty) {
    open_.push_back(place(std::move(empty)));
    return true;
  }
  virtual bool close() {
    open_.pop_back();
    return true;
  }

  std::size_t depth() const { return open_.size(); }
  bool in_list() const { return !open_.empty() && open_.back()->is_array(); }
  AnyJson& innermost() { return *open_.back(); }  // the innermost open list or object; depth() > 0

 private:
  AnyJson* place(AnyJson value) {
    AnyJson* at = &root_;
    if (in_list()) {
      innermost().push_back(nullptr);
      at = &innermost().back();
    } else if (!open_.empty()) {
      at = member_;
    }
    *at = std::move(value);
    return at;
  }

  AnyJson root_;
  std::vector<AnyJson*> open_;  // lists and objects, outermost first; a parent does not move while a child is open
  AnyJson* member_ = nullptr;   // the value of the last key of the innermost object
};

}  // namespace agon
