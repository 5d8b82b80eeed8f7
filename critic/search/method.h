// critic/search/method.h - the methods of test-time search (best-of-n, beam, MCTS, ...), their options, and search(),
// which runs one of them. A method (critic/search/methods/) decides only which nodes to expand and which to keep. The
// tree (critic/search/tree.h) writes, judges, plays, counts and records.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "critic/search/tree.h"

namespace agon::critic {

// The methods. They use n trajectories, `width` candidates per step and `attempts` per step. Near the end of the
// budget they try less, so that they can finish the trajectories that they have begun (see Tree::expand, and below).
// After the end of the critic's budget, the beam methods finish only the first-ranked trajectory, without the critic;
// the other methods finish the trajectories under way.
//   greedy             one trajectory at temperature 0.
//   best_of_n          n sampled trajectories; keeps the first-ranked one. With a budget of policy tokens it samples in
//                      parallel only as many as half of the remaining tokens can hold, by the length of earlier ones,
//                      so that each trajectory is whole.
//   majority           n sampled trajectories; keeps the first one with the majority answer (env/grading/vote.h).
//   weighted_majority  the same, but each trajectory votes with the weight of its rank.
//   guided             one step at a time (SPC): the first attempt is at temperature 0. A step that the critic rejects
//                      is rewritten (`retry`), with at most `attempts` attempts in all. Retries stay within a third of
//                      the policy tokens, unless one is longer than all earlier attempts at its step. `keep` says which
//                      attempt is kept. An invalid or unknown verdict does not reject a step.
//   beam               n partial trajectories; each is expanded to `width`, and the n that rank first are kept. The
//                      first step has n x width candidates. Finished trajectories keep their place.
//   diverse_beam       DVTS: n subtrees that do not compete; each keeps the first-ranked of `width` candidates.
//   mcts               n trajectories; each descends from the root to the child with the highest
//                      Q + kExploration x P x sqrt(N of the parent) / (1 + N). N: visits of the child, Q: mean rank
//                      below it, P: its share of the `width` candidates. Equal candidates count as one child.
//   particles          n particles, each weighted by P(correct) of its steps. When their effective number falls below
//                      n / 2, they are drawn again in proportion to their weights (systematic resampling). The answers
//                      vote by weight.
enum class Method { greedy, best_of_n, majority, weighted_majority, guided, beam, diverse_beam, mcts, particles };
inline constexpr double kExploration = 1.25;
const std::vector<std::string>& method_names();  // "greedy", "best-of-n", ...
Method parse_method(const std::string& name);    // throws Error naming the nearest
const std::string& to_string(Method method);
bool needs_forks(Method method);  // whether the method plays several turns after one node

// The rank of a trajectory: the policy's own <score> after its answer, or the minimum, mean, last or product of the
// critic's P(correct) over its steps. Steps without a probability (invalid, unknown) are skipped. A trajectory without
// any probability ranks last and is counted in Answer::unranked.
enum class Rank { score, min, mean, last, product };
const std::vector<std::string>& rank_names();
Rank parse_rank(const std::string& name);
const std::string& to_string(Rank rank);

// How a rejected step is rewritten. anew: sampled, but never a text that was rejected there (at temperature 0: the next
// most likely text). independent: sampled as before, as in SPC, so that it may repeat a rejected text.
enum class Retry { anew, independent };

// Which attempt is kept. last, best: the first attempt that is not rejected; if all are rejected, the last one (last)
// or the one with the highest P(correct) (best). likeliest: of the attempts up to that one, the one with the highest
// P(correct) times the policy's own probability of the step. Then an error of the critic does not replace a step that
// the policy is sure of with a far-fetched one. Ties: the first attempt.
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
  std::map<int, int> attempts;  // guided: number of steps that were kept after n attempts, by n
  int unranked = 0;             // finished trajectories without a rank, if the method ranks
};

// The rank of the trajectory down to the node. Nothing: it has no rank.
std::optional<double> rank_of(const Tree& tree, int node, Rank rank);

// Searches until the method or the budget ends; the answer is the finished trajectory that the method chooses. Throws
// what the tree and require_rank throw.
Answer search(Tree& tree, const MethodOptions& options);

}  // namespace agon::critic
