// cli/tables/search_tree.h - the tree of a searched task, for a terminal and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "critic/search/search_run.h"
#include "record/journal_entry.h"

namespace agon::cli {

// [{node, parent, text, tokens, verdict, probability, critique, decision, chosen, label, why, ends_turn, reward,
// success, times}]. decision: what the method did with the step ("keep", "reject", "prune", "answer"); null: not noted.
// chosen: on the path to the answer. label, why: whether the step is right by the suite, and why not.
Json search_nodes_json(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal);
// {task_id, prompt, complete, outcome, failure, nodes, divergence}.
Json search_tree_json(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal);
std::string search_tree_text(const critic::Replay& replay, const std::vector<record::JournalEntry>& journal);

}  // namespace agon::cli
