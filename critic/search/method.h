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

// n trajectories, `width` candidates a step, `attempts` at a step. Near the end of the budget less is tried, so that
// begun trajectories can be finished: see Tree::expand, and below. After the end of the critic's budget, beams finish
// the trajectory that ranks first without the critic; the other methods finish what is under way.
//   greedy             one trajectory at temperature 0.
//   best_of_n          n sampled trajectories; the one that ranks first. With a budget of policy tokens, as many in
//                      parallel as half of the rest can hold, by the length of earlier ones, so that they are whole.
//   majority           n sampled trajectories; the first one with the majority answer (env/grading/vote.h).
//   weighted_majority  the same, each voting with the weight of its rank.
//   guided             one step at a time (SPC): the first attempt at temperature 0; one that is found wrong
//                      is written again (`retry`), at most `attempts` times in all. Repeated attempts stay within a
//                      third of the policy tokens, if none is longer than earlier ones. `keep` says which attempt is
//                      kept. An invalid or unknown verdict rejects nothing.
//   beam               n partial trajectories; each is expanded to `width`, and the n that rank first are kept. The
//                      first step has n x width candidates. Finished trajectories keep their place.
//   diverse_beam       DVTS: n subtrees that do not compete; each keeps the first-ranked of `width` candidates.
//   mcts               n trajectories; from the root down, the child with the highest
//                      Q + kExploration x P x sqrt(N of the parent) / (1 + N), Q the mean rank below it, P its share of
//                      the `width` candidates; equal candidates are one.
//   particles          n particles, each weighted by P(correct) of its steps; when their effective number falls below
//                      half, they are drawn again in proportion (systematic resampling). The answers vote by weight.
enum class Method { greedy, best_of_n, majority, weighted_majority, guided, beam, diverse_beam, mcts, particles };
inline constexpr double kExploration = 1.25;
const std::vector<std::string>& method_names();  // "greedy", "best-of-n", ...
Method parse_method(const std::string& name);    // throws Error naming the nearest
const std::string& to_string(Method method);
bool needs_forks(Method method);  // whether it plays several turns after one node

// The rank of a trajectory: the policy's own <score> after its answer, or the least, the mean, the last or the product
// of the critic's P(correct) of its steps. Steps without a probability (invalid, unknown) are skipped. A trajectory
// without any probability ranks last, and is counted.
enum class Rank { score, min, mean, last, product };
const std::vector<std::string>& rank_names();
Rank parse_rank(const std::string& name);
const std::string& to_string(Rank rank);

// How a rejected step is rewritten. anew: sampled without the texts rejected there (at temperature 0 the next most
// likely one). independent: sampled as before, as in SPC, which may repeat a rejected text.
enum class Retry { anew, independent };

// Which attempt is kept. last, best: the first that is not rejected; if all are, the last one, or the one with the
// highest P(correct). likeliest: of all attempts up to that one, the one with the highest P(correct) times the policy's
// own probability of the step, so that an error of the critic does not replace what the policy is sure of with
// something far-fetched. Of equal ones the first.
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
// The settings that only some methods use. sampling: how candidates are drawn. speculation: writing ahead of a verdict
// (TreeOptions::speculate).
enum class Setting { n, width, attempts, keep, retry, rank, sampling, speculation };
const std::vector<Method>& methods_with(Setting setting);
bool looks_at(Method method, Setting setting);
// Throws Error for a rank that the method cannot use: only a whole trajectory has a score.
void require_rank(const MethodOptions& options);

// The result of a method.
struct Answer {
  int node = -1;                // end of the chosen trajectory; -1: no trajectory was finished
  int rejected = 0;             // steps that the critic's verdict rejected
  std::map<int, int> attempts;  // guided: how many steps were kept at the n-th attempt
  int unranked = 0;             // finished trajectories without a rank, if the method ranks
};

// The rank of the trajectory down to the node. Nothing: it has none.
std::optional<double> rank_of(const Tree& tree, int node, Rank rank);

// Searches until the method or the budget ends; the answer is then the best finished trajectory. Throws what the tree
// and require_rank throw.
Answer search(Tree& tree, const MethodOptions& options);

}  // namespace agon::critic
