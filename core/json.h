// core/json.h - the JSON value of agon: nlohmann/json with keys kept in the order written.
#pragma once

#include <nlohmann/json.hpp>

namespace agon {

using Json = nlohmann::ordered_json;

}  // namespace agon
