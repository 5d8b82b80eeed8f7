// agents/hub/jinja/template.h - parses and renders chat templates, which are written in a subset of Jinja. The result
// is that of transformers: jinja2's immutable sandbox with trim_blocks, lstrip_blocks, break and continue, generation
// blocks, raise_exception, strftime_now, and a tojson without HTML escaping.
//
// Rendered text keeps its origin (text.h), so that a prompt shows which bytes come from the template and which from a
// user.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agents/hub/jinja/interpreter.h"

namespace agon::agents::jinja {

// Immutable after construction, thread-safe, cheap to copy.
class JinjaTemplate {
 public:
  // Throws Error "chat template FILE, line 12: the filter 'xyz' is not known"; FILE is `source`.
  static JinjaTemplate parse(std::string_view jinja, std::string source);
  // Throws Error, with the source and the line, if the template raises an exception, fails or exceeds a limit.
  Text render(const Variables& variables, const TemplateLimits& limits = {},
              std::optional<std::time_t> now = std::nullopt) const;

 private:
  std::string source_;
  std::shared_ptr<const Body> body_ = std::make_shared<const Body>();  // before parse(): prints nothing
};

}  // namespace agon::agents::jinja
