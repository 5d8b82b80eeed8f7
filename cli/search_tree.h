// cli/search_tree.h - the tree of a searched task, for a terminal and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "critic/search/search_run.h"

namespace agon::cli {

// {task, finished, outcome, nodes [{node, parent, step, tokens, verdict, probability, critique, decision, ends_turn,
// reward, success, answer}], divergence}. decision: what the method did with it ("keep", "reject", "prune", "answer");
// null where it said nothing.
Json search_tree_json(const critic::Replay& replay, const std::vector<env::JournalEntry>& journal);
std::string search_tree_text(const critic::Replay& replay, const std::vector<env::JournalEntry>& journal);

}  // namespace agon::cli
