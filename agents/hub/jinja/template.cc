#include "agents/hub/jinja/template.h"

#include "agents/hub/jinja/parser.h"
#include "core/error.h"

namespace agon::agents::jinja {

JinjaTemplate JinjaTemplate::parse(std::string_view jinja, std::string source) try {
  JinjaTemplate result;
  result.body_ = std::make_shared<const Body>(parse_template(jinja));
  result.source_ = std::move(source);
  return result;
} catch (const Error& error) {
  throw Error("chat template {}, {}", source, error.what());
}

Text JinjaTemplate::render(const Variables& variables, const TemplateLimits& limits,
                           std::optional<std::time_t> now) const try {
  return run_template(*body_, variables, limits, now.value_or(std::time(nullptr)));
} catch (const Error& error) {
  throw Error("chat template {}, {}", source_, error.what());
}

}  // namespace agon::agents::jinja
