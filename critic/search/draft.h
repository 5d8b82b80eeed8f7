// critic/search/draft.h - a step while the policy is writing it. Only the tree (critic/search/tree.h) uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "core/message.h"
#include "env/protocol.h"

namespace agon::critic {

// A step ends here, except inside a tool call.
inline constexpr const char* kBlankLine = "\n\n";
inline constexpr env::Tag kCallTags[] = {env::Tag::search, env::Tag::code, env::Tag::problem};

// One unfinished step. Holds everything that writing it needs, so that the policy can write it while the tree does
// other work.
struct Draft {
  int line = 0;  // index among the nodes that are expanded
  int parent = -1;
  std::vector<Message> messages;
  std::string before;     // text of the turn so far
  std::int64_t room = 0;  // tokens left in the turn
  std::uint64_t seed = 0;
  std::vector<agents::Beginning> excluded;

  std::string text;
  std::vector<std::int32_t> token_ids;  // empty if the policy does not report them
  std::vector<float> logprobs;
  std::vector<std::vector<agents::Alternative>> alternatives;
  std::int64_t tokens = 0;
  std::vector<std::size_t> ends;  // end of each token in the text; empty if the policy does not report it
  bool done = false, ends_turn = false, cut = false, full = false;  // cut, full: as in Node

  // limit: the token limit of the request that returned the completion.
  void add(const agents::Completion& completion, std::int64_t limit);
  // The excluded beginnings that the text so far can still turn into, without the part that is already written.
  std::vector<agents::Beginning> still_excluded() const;
  int said() const;  // as in Node
};

// Writes all drafts to their ends, or until `left` tokens are written. Each draft gets an equal share; tokens that one
// draft does not need go to the others.
void write_out(agents::Policy& policy, std::span<Draft> drafts, agents::Sampling sampling, std::int64_t left);
// Writes the drafts as Tree::expand says: the first may use all tokens left, the others together `for_all`. Drafts that
// were not begun are removed.
void write_within(agents::Policy& policy, std::vector<Draft>& drafts, const agents::Sampling& sampling,
                  std::int64_t left, std::int64_t for_all);

}  // namespace agon::critic
