// agents/hub/jinja/template.h - a template of the Jinja subset that chat templates are written in, rendered as
// transformers renders it: jinja2's immutable sandbox with trim_blocks, lstrip_blocks, break and continue, blocks of
// the name generation, raise_exception, strftime_now and a tojson that escapes nothing.
//
// What is printed keeps its origin (text.h): a prompt still says which bytes the template wrote and which a user.
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
  // Throws Error, with the source and the line, for what the template refuses or does wrong and at each limit.
  Text render(const Variables& variables, const TemplateLimits& limits = {},
              std::optional<std::time_t> now = std::nullopt) const;

 private:
  std::string source_;
  std::shared_ptr<const Body> body_ = std::make_shared<const Body>();  // without parse(): prints nothing
};

}  // namespace agon::agents::jinja
