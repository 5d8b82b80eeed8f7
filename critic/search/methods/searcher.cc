#include "critic/search/methods/searcher.h"

#include <algorithm>
#include <set>

#include "core/text.h"
#include "env/grading/box_text.h"
#include "env/grading/vote.h"
#include "env/protocol.h"

namespace agon::critic {
namespace {

// A node without a rank comes after every node with one.
bool ranks_before(const std::optional<double>& a, const std::optional<double>& b) { return a && (!b || *a > *b); }

}  // namespace

std::vector<int> flat(const std::vector<std::vector<int>>& lists) {
  std::vector<int> all;
  for (const std::vector<int>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<int> Searcher::go_on(const std::vector<int>& nodes) {
  tree_.enter(nodes);
  std::vector<int> open;
  for (const int node : nodes) {
    if (tree_.at(node).end && tree_.at(node).end->over())
      done_.push_back(node);
    else if (!tree_.at(node).is_over() && (!tree_.at(node).ends_turn || tree_.at(node).end))
      open.push_back(node);
  }
  return open;
}

bool Searcher::is_done(int node) const { return std::find(done_.begin(), done_.end(), node) != done_.end(); }

void Searcher::end_full(const std::vector<int>& nodes) {
  for (const int node : nodes)
    if (tree_.at(node).full && !tree_.at(node).is_root() && !is_done(node)) done_.push_back(node);
}

void Searcher::play_spare() {
  std::vector<int> spare;
  for (int node = 0; done_.empty() && node < tree_.size(); ++node)
    if (tree_.at(node).ends_turn && !tree_.at(node).end && !tree_.at(node).cut) spare.push_back(node);
  for (const int node : ranked(std::move(spare), options_.rank))
    if (done_.empty()) go_on({node});
}

std::vector<int> Searcher::ranked(std::vector<int> nodes, Rank rank) const {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](int a, int b) { return ranks_before(rank_of(tree_, a, rank), rank_of(tree_, b, rank)); });
  return nodes;
}

std::vector<int> Searcher::without_twins(const std::vector<int>& nodes) const {
  std::set<std::pair<int, std::string>> seen;
  std::vector<int> kept;
  for (const int node : nodes) {
    const Node& one = tree_.at(node);
    if (!one.cut && seen.emplace(one.parent, std::string(trim(one.text)) + (one.ends_turn ? "." : "")).second)
      kept.push_back(node);
  }
  return kept;
}

void Searcher::count_unranked() {
  answer_.unranked = static_cast<int>(
      std::count_if(done_.begin(), done_.end(), [this](int node) { return !rank_of(tree_, node, options_.rank); }));
}

Answer Searcher::first_done() {
  play_spare();
  if (!done_.empty()) answer_.node = done_.front();
  return answer_;
}

Answer Searcher::first_ranked() {
  play_spare();
  count_unranked();
  done_ = ranked(done_, options_.rank);
  return first_done();
}

Answer Searcher::by_vote(const std::function<std::optional<double>(int)>& weight) {
  std::vector<env::Vote> votes;
  bool boxes = false;
  for (const int node : done_) {
    env::Vote& vote = votes.emplace_back();
    const std::optional<double> heavy = weight(node);
    if (!heavy) continue;
    vote = {env::extract_answer(tree_.turn_text(node)), *heavy};
    if (!vote.answer && !tree_.task().grading.is_null()) vote.answer = tree_.turn_text(node);
    boxes = boxes || (vote.answer && env::parse_box(*vote.answer));
  }
  const auto winner = env::winning_vote(votes, tree_.task().grading, boxes);
  if (!winner) return first_done();
  answer_.node = done_[*winner];
  return answer_;
}

}  // namespace agon::critic
