// tools/json_schema.h - JsonSchema, a compiled JSON schema (draft 4) of a tool's arguments. It checks arguments and
// describes the first fault. Immutable: any thread may check.
//   JsonSchema schema("search", search_tool.spec().schema);
//   schema.fault({{"query", 3}})  // "query is 3, but its type must be \"string\"."
#pragma once

#include <memory>
#include <string>

#include "core/json.h"

namespace agon::tools {

class JsonSchema {
 public:
  // Throws Error, which begins with `name`, for a schema that is not "type": "object" with "properties".
  JsonSchema(const std::string& name, const Json& schema);
  ~JsonSchema();
  JsonSchema(JsonSchema&&) noexcept;

  // The first fault: its place, the value there, and the schema's requirement; empty: the value fits. An integer above
  // the range of int64 is a fault under any schema.
  std::string fault(const Json& value) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace agon::tools
