// critic/search/draft.h - a step while it is being written. Only the tree uses it (critic/search/tree.h).
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

// What ends a step, but inside a call of a tool.
inline constexpr const char* kBlankLine = "\n\n";
inline constexpr env::Tag kCallTags[] = {env::Tag::search, env::Tag::code, env::Tag::problem};

// One step under way. Holds all that writing it needs, so that it can be written while the tree goes on.
struct Draft {
  int line = 0;  // of the nodes that are expanded, its place
  int parent = -1;
  std::vector<Message> messages;
  std::string before;     // what the turn says already
  std::int64_t room = 0;  // tokens until the turn has its most
  std::uint64_t seed = 0;
  std::vector<agents::Beginning> excluded;

  std::string text;
  std::vector<std::int32_t> token_ids;  // none where the policy does not tell
  std::vector<float> logprobs;
  std::vector<std::vector<agents::Alternative>> alternatives;
  std::int64_t tokens = 0;
  std::vector<std::size_t> ends;  // of each token in the text; none where the policy does not tell
  bool done = false, ends_turn = false, cut = false, full = false;  // cut, full: as of a Node

  // limit: the most tokens that were asked for.
  void add(const agents::Completion& completion, std::int64_t limit);
  // Those of the excluded beginnings that what is written may still become, without it.
  std::vector<agents::Beginning> still_excluded() const;
  int said() const;  // as of a Node
};

// Writes all to their ends, or until `left` tokens are written: shares of them, and what some do not need goes to
// others.
void write_out(agents::Policy& policy, std::span<Draft> drafts, agents::Sampling sampling, std::int64_t left);
// Writes them as Tree::expand says: the first with all tokens that are left, the others within what is for all of them;
// those that are not begun go.
void write_within(agents::Policy& policy, std::vector<Draft>& drafts, const agents::Sampling& sampling,
                  std::int64_t left, std::int64_t for_all);

}  // namespace agon::critic
