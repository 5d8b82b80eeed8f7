// cli/tables/search_tree.h - the tree of a searched task, for a terminal and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "critic/search/search_run.h"
#include "record/journal_entry.h"

namespace agon::cli {

// [{node, parent, step, tokens, verdict, probability, critique, decision, chosen, label, reason, ends_turn, reward,
// success}]. decision: what the method did with it ("keep", "reject", "prune", "answer"); null where it said nothing.
// chosen: on the way to the answer. label, reason: what the suite says of the step: right or not, and why not.
Json search_nodes_json(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal);
// {task, prompt, finished, outcome, nodes, divergence}.
Json search_tree_json(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal);
std::string search_tree_text(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal);

}  // namespace agon::cli
