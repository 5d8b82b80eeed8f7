// critic/search/method.h - the methods of test-time search: their options, and a search by one of them. A method
// (critic/search/methods/) decides only what to expand and what to keep. The tree (critic/search/tree.h) writes,
// judges, plays, counts and records.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "critic/search/tree.h"

namespace agon::critic {

// n trajectories, `width` candidates a step, `attempts` at a step. Where the budget draws near its end, less is tried,
// so that what is begun gets to its end: see Tree::expand, and below. Where the critic's has ended, beams write
// what ranks first to its end without it, the others what is under way.
//   greedy             one trajectory at temperature 0.
//   best_of_n          n sampled trajectories; the one that ranks first. With a budget of policy tokens as many side by
//                      side as half of what is left could hold, by those before: whole ones, rather than all of them
//                      cut.
//   majority           n sampled trajectories; the answer that most give (env/grading/vote.h), of those the first.
//   weighted_majority  the same, each voting with the weight of its rank.
//   guided             one step at a time (SPC): the first attempt at temperature 0; one that is found wrong
//                      is written again (`retry`), at most `attempts` times in all, all such together within a third
//                      of the policy tokens if none is longer than those before it; `keep` says which goes on. An
//                      invalid or unknown verdict rejects nothing.
//   beam               n partial trajectories; each is expanded to `width`, the n that rank first of all go on. The
//                      first step has n x width candidates. Trajectories that end keep their place.
//   diverse_beam       DVTS: n subtrees that do not compete; in each the one that ranks first of `width` goes on.
//   mcts               n trajectories; from the root down, the child with the highest
//                      Q + kExploration x P x sqrt(N of the parent) / (1 + N), Q the mean rank below it, P its share of
//                      the `width` candidates; equal candidates are one.
//   particles          n particles, each weighted by P(correct) of its steps; when the effective number falls below
//                      half, they are drawn again in proportion (systematic resampling). The answers vote by weight.
enum class Method { greedy, best_of_n, majority, weighted_majority, guided, beam, diverse_beam, mcts, particles };
inline constexpr double kExploration = 1.25;
const std::vector<std::string>& method_names();  // "greedy", "best-of-n", ...
Method parse_method(const std::string& name);    // throws Error naming the nearest
const std::string& to_string(Method method);
bool needs_forks(Method method);  // it plays several turns behind one node

// What a trajectory is ranked by: the policy's own <score> behind its answer, or of the critic's P(correct) of its
// steps the least, the mean, the last, or the product. Steps without a probability (invalid, unknown) are passed over;
// a trajectory without any ranks behind all others, and is counted.
enum class Rank { score, min, mean, last, product };
const std::vector<std::string>& rank_names();
Rank parse_rank(const std::string& name);
const std::string& to_string(Rank rank);

// How a rejected step is written again: sampled without what was rejected there (at temperature 0 the next likeliest),
// or sampled as before, as in SPC, which may say the same again.
enum class Retry { anew, independent };

// Which attempt goes on. The first that is not rejected; where all are, the last, or the best: the highest P(correct).
// Or of all attempts up to that the likeliest: the highest P(correct) times the policy's own probability of what the
// step says, so that a critic that errs does not put something outlandish in the place of what the policy is sure of.
// Of equal ones the first.
enum class Keep { last, best, likeliest };
const std::vector<std::string>& keep_names();
Keep parse_keep(const std::string& name);
const std::string& to_string(Keep keep);

struct MethodOptions {
  Method method = Method::greedy;
  int n = 5, width = 4, attempts = 5;
  Rank rank = Rank::mean;
  Keep keep = Keep::likeliest;
  Retry retry = Retry::anew;
};
bool needs_critic(const MethodOptions& options);
// The settings of a search that only some methods look at. sampling: how candidates are drawn. speculation: writing
// ahead of a verdict (TreeOptions::speculate).
enum class Setting { n, width, attempts, keep, retry, rank, sampling, speculation };
const std::vector<Method>& methods_with(Setting setting);
bool looks_at(Method method, Setting setting);
// Throws Error for a rank that the method cannot go by: a score stands behind a whole trajectory alone.
void require_rank(const MethodOptions& options);

// What a method ends with.
struct Answer {
  int node = -1;                // where the chosen trajectory ends; -1: none has got to its end
  int rejected = 0;             // steps that the critic's verdict threw away
  std::map<int, int> attempts;  // guided: how many steps were kept at the n-th attempt
  int unranked = 0;             // trajectories at their end without a rank, where the method ranks
};

// Of the trajectory down to the node. Nothing: it has no such thing.
std::optional<double> rank_of(const Tree& tree, int node, Rank rank);

// Searches until the method ends or the budget does; then the answer is the best of what has got to its end. Throws
// what the tree and require_rank throw.
Answer search(Tree& tree, const MethodOptions& options);

}  // namespace agon::critic
