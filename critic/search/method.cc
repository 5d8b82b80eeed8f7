#include "critic/search/method.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "critic/search/methods/searcher.h"
#include "env/protocol.h"

namespace agon::critic {
namespace {

// In the order of Method.
constexpr Answer (*kSearches[])(Tree&, const MethodOptions&) = {
    greedy, best_of_n, majority, weighted_majority, guided, beam, diverse_beam, mcts, particles};

template <typename Value>
Value parse_named(const char* what, const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw Error("search: {}", unknown_name_message(what, name, names));
  return static_cast<Value>(found - names.begin());
}

}  // namespace

const std::vector<std::string>& method_names() {
  static const std::vector<std::string> names = {"greedy", "best-of-n",    "majority", "weighted-majority", "guided",
                                                 "beam",   "diverse-beam", "mcts",     "particles"};
  return names;
}
Method parse_method(const std::string& name) { return parse_named<Method>("method", name, method_names()); }
const std::string& to_string(Method method) { return method_names().at(static_cast<std::size_t>(method)); }

const std::vector<std::string>& keep_names() {
  static const std::vector<std::string> names = {"last", "best", "likeliest"};
  return names;
}
Keep parse_keep(const std::string& name) { return parse_named<Keep>("keep", name, keep_names()); }
const std::string& to_string(Keep keep) { return keep_names().at(static_cast<std::size_t>(keep)); }

const std::vector<std::string>& rank_names() {
  static const std::vector<std::string> names = {"score", "min", "mean", "last", "product"};
  return names;
}
Rank parse_rank(const std::string& name) { return parse_named<Rank>("rank", name, rank_names()); }
const std::string& to_string(Rank rank) { return rank_names().at(static_cast<std::size_t>(rank)); }

bool needs_forks(Method method) {
  return method == Method::beam || method == Method::diverse_beam || method == Method::mcts ||
         method == Method::particles;
}

// In the order of Setting. guided and particles use the rank only for turns that a spent budget left unplayed.
const std::vector<Method>& methods_with(Setting setting) {
  using enum Method;
  static const std::vector<Method> lists[] = {
      {best_of_n, majority, weighted_majority, beam, diverse_beam, mcts, particles},
      {beam, diverse_beam, mcts},
      {guided},
      {guided},
      {guided},
      {best_of_n, weighted_majority, guided, beam, diverse_beam, mcts, particles},
      {best_of_n, majority, weighted_majority, guided, beam, diverse_beam, mcts, particles},
      {guided}};
  return lists[static_cast<std::size_t>(setting)];
}

bool looks_at(Method method, Setting setting) {
  const std::vector<Method>& all = methods_with(setting);
  return std::find(all.begin(), all.end(), method) != all.end();
}

bool needs_critic(const MethodOptions& options) {
  if (options.method == Method::greedy || options.method == Method::majority) return false;
  if (options.method == Method::best_of_n || options.method == Method::weighted_majority)
    return options.rank != Rank::score;
  return true;
}

void require_rank(const MethodOptions& options) {
  const bool partial =
      options.method == Method::beam || options.method == Method::diverse_beam || options.method == Method::mcts;
  if (partial && options.rank == Rank::score)
    throw Error(
        "search: {} ranks unfinished trajectories, and the score comes only at the end of one. Choose a --rank other "
        "than score.",
        to_string(options.method));
}

std::optional<double> rank_of(const Tree& tree, int node, Rank rank) {
  if (rank == Rank::score) return env::extract_score(tree.turn_text(node));
  std::vector<double> probabilities;
  for (const int step : tree.path(node))
    if (const auto& verdict = tree.at(step).verdict; verdict && verdict->probability)
      probabilities.push_back(*verdict->probability);
  if (probabilities.empty()) return std::nullopt;
  double product = 1, sum = 0;
  for (const double probability : probabilities) {
    product *= probability;
    sum += probability;
  }
  switch (rank) {
    case Rank::min:
      return *std::min_element(probabilities.begin(), probabilities.end());
    case Rank::last:
      return probabilities.back();
    case Rank::product:
      return product;
    default:
      return sum / static_cast<double>(probabilities.size());
  }
}

Answer search(Tree& tree, const MethodOptions& options) {
  require_rank(options);
  const Answer answer = kSearches[static_cast<std::size_t>(options.method)](tree, options);
  if (answer.node >= 0) tree.note("answer", answer.node);
  tree.end();
  return answer;
}

}  // namespace agon::critic
