// Searches whose envs hold an interpreter: every branch of the tree has its own.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "critic/plain_critics.h"
#include "critic/search/method.h"
#include "env/suite.h"

using namespace agon;
using namespace agon::critic;

namespace {

// Writes code that makes a list and a file with its letter, then code that appends another letter, then an answer.
class LetterPolicy : public agents::Policy {
 public:
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> all;
    for (const agents::CompletionRequest& request : requests) {
      const auto turns = std::count_if(request.messages.begin(), request.messages.end(),
                                       [](const Message& message) { return message.role == Role::assistant; });
      const char letter = static_cast<char>('a' + number_++ % 26);
      agents::Completion& one = all.emplace_back();
      one.text = turns == 0   ? fmt::format("<code>x = ['{0}']\nopen('file', 'w').write('{0}')</code>", letter)
                 : turns == 1 ? fmt::format("<code>x.append('{}')\nprint(x, open('file').read())</code>", letter)
                              : "<answer>1</answer>";
      one.token_ids = {1, 2};
    }
    return all;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"letters", true, false, false, 1 << 20}; }

 private:
  int number_ = 0;
};

// The output of an interpreter that has run only the two turns of this branch.
std::string expected(const Tree& tree, int node) {
  const auto letter = [&](int step) {
    const std::string& text = tree.at(step).text;
    return text.substr(text.find('\'') + 1, 1);
  };
  const std::string first = letter(tree.at(node).parent);
  return fmt::format("['{}', '{}'] {}", first, letter(node), first);
}

}  // namespace

TEST_CASE("Every future of a search has an interpreter of its own") {
  const Method method = GENERATE(Method::beam, Method::diverse_beam, Method::mcts, Method::particles);
  LetterPolicy policy;
  const auto critic = make_constant_critic(0.9);
  Journal journal(0, {}, {});
  TreeOptions options;
  options.forks = needs_forks(method);
  const auto begin = [] {
    Tree::Beginning beginning{env::make_env("darkroom", {.level = 1}), {}};
    beginning.first = beginning.env->reset({});
    return beginning;
  };
  Tree tree(&policy, critic.get(), begin, journal, options);
  const Answer answer = search(tree, {.method = method, .n = 3, .width = 3});
  CHECK(answer.node >= 0);
  int seen = 0;
  for (int node = 0; node < tree.size(); ++node) {
    if (tree.at(node).depth != 2 || !tree.at(node).end) continue;
    std::string said;
    for (const Part& part : tree.at(node).end->result.observation.parts) said += part.text;
    INFO(to_string(method) << " node " << node);
    CHECK_THAT(said, Catch::Contains(expected(tree, node)));
    ++seen;
  }
  CHECK(seen >= 3);
}
