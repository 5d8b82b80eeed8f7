// tools/json_schema.h - a compiled JSON schema (draft 4) of a tool's arguments, and what is wrong with arguments that
// do not fit it. Immutable: any thread may check.
//   JsonSchema schema("search", search_tool.spec().schema);
//   schema.fault({{"query", 3}})  // "query is 3, but its type must be \"string\"."
#pragma once

#include <memory>
#include <string>

#include "core/json.h"

namespace agon::tools {

class JsonSchema {
 public:
  // Throws Error, which begins with `name`, for a schema that is not an object or not valid.
  JsonSchema(const std::string& name, const Json& schema);
  ~JsonSchema();
  JsonSchema(JsonSchema&&) noexcept;

  // The first fault: where it is, the value there, and what the schema wants; empty: the value fits. Whole numbers that
  // no int64 holds are a fault under any schema.
  std::string fault(const Json& value) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace agon::tools
