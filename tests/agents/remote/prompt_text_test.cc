#include "agents/remote/prompt_text.h"

#include <catch2/catch.hpp>

#include "agents/hub/jinja/template.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "paths.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::agents;
using Catch::Contains;

namespace {

// Renders as a server does: with the template of the request, and the turn to continue as the last message.
std::string rendered(const std::filesystem::path& model, const Json& turn) {
  const Json messages = {{{"role", "user"}, {"content", "Count."}}, {{"role", "assistant"}, {"content", turn}}};
  jinja::Variables variables;
  variables.emplace_back("messages", jinja::Value::from_json(messages, jinja::kGiven));
  variables.emplace_back("add_generation_prompt", true);
  const auto jinja = jinja::JinjaTemplate::parse(PromptText(model).continuing_jinja(), "x.jinja");
  return std::string(jinja.render(variables).view());
}

}  // namespace

TEST_CASE("a chat template that leaves the turn open ends with the turn, blanks and all") {
  const std::string head = "<|im_start|>user\nCount.<|im_end|>\n<|im_start|>assistant\n";
  const std::filesystem::path tiny = test::source_path("models/agon-tiny");
  for (const std::string turn :
       {"one", "one\n\n", "Count. one, two", " one ", "\n", "assistant\n", "{{ 'x' }} 'é' \\n"}) {
    CAPTURE(turn);
    CHECK(rendered(tiny, turn) == head + turn);
    CHECK(rendered(tiny, Json::array({{{"type", "text"}, {"text", turn}}})) == head + turn);
  }

  const test::TempFolder folder;
  std::filesystem::copy(tiny / "tokenizer.json", folder / "tokenizer.json");
  const std::string file = (folder / "chat_template.jinja").string();
  const std::string messages = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n";
  write_file_atomically(file, "\n" + messages + "{% endfor %}");  // which also begins with a newline
  CHECK(rendered(folder.path(), "one\n\n") == "\n" + head + "one\n\n");
  write_file_atomically(file, messages + "{% break %}{% endfor %}");  // drops the turn
  CHECK_THROWS_WITH(rendered(folder.path(), "one"), Contains("drops a turn that has begun"));
}
