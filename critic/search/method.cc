#include "critic/search/method.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "env/box.h"
#include "env/protocol.h"
#include "env/vote.h"

namespace agon::critic {
namespace {

// Nothing ranks behind everything.
bool ranks_before(const std::optional<double>& a, const std::optional<double>& b) { return a && (!b || *a > *b); }

// The nodes, those that rank first before the others; of equal ones in their order.
std::vector<int> ranked(const Tree& tree, std::vector<int> nodes, Rank rank) {
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](int a, int b) { return ranks_before(rank_of(tree, a, rank), rank_of(tree, b, rank)); });
  return nodes;
}

// Of siblings that say the same, the first.
std::vector<int> without_twins(const Tree& tree, const std::vector<int>& nodes) {
  std::set<std::pair<int, std::string>> seen;
  std::vector<int> kept;
  for (const int node : nodes) {
    const Node& one = tree.at(node);
    if (!one.cut && seen.emplace(one.parent, std::string(trim(one.text)) + (one.ends_turn ? "." : "")).second)
      kept.push_back(node);
  }
  return kept;
}

std::vector<int> flat(const std::vector<std::vector<int>>& lists) {
  std::vector<int> all;
  for (const std::vector<int>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

class Searcher {
 public:
  Searcher(Tree& tree, const MethodOptions& options) : tree_(tree), options_(options) {}

  Answer run() {
    switch (options_.method) {
      case Method::greedy:
        greedy();
        break;
      case Method::best_of_n:
        sample();
        choose_first_ranked();
        break;
      case Method::majority:
        sample();
        choose_by_vote([](int) { return 1.0; });
        break;
      case Method::weighted_majority:
        sample();
        count_unranked();
        choose_by_vote([this](int node) { return rank_of(tree_, node, options_.rank); });
        break;
      case Method::guided:
        guided();
        break;
      case Method::beam:
        beam();
        break;
      case Method::diverse_beam:
        diverse_beam();
        break;
      case Method::mcts:
        mcts();
        break;
      case Method::particles:
        particles();
        break;
    }
    if (answer_.node >= 0) tree_.note("answer", answer_.node);
    tree_.end();
    return answer_;
  }

 private:
  bool uses_critic() const { return needs_critic(options_); }

  // Plays the turns that the nodes end. Those that are over are done; the others are returned.
  std::vector<int> go_on(const std::vector<int>& nodes) {
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

  // Those whose context is full end where they stand.
  std::vector<int> with_room(const std::vector<int>& nodes) {
    std::vector<int> open;
    for (const int node : nodes) {
      if (!tree_.at(node).full)
        open.push_back(node);
      else if (!tree_.at(node).is_root())
        done_.push_back(node);
    }
    return open;
  }

  void greedy() {
    std::vector<int> line = {tree_.add_root()};
    while (!line.empty()) {
      const std::vector<int> next = flat(tree_.expand(line, 1, Writing::greedy));
      with_room(line);
      line = go_on(next);
    }
    choose_first_done();
  }

  // n trajectories, as many side by side as the budget is sure to hold.
  void sample() {
    std::int64_t each = 0;  // tokens of a trajectory, as far as is known
    for (int begun = 0, some = 0; begun < options_.n && may_sample(begun); begun += some) {
      some = side_by_side(options_.n - begun, each);
      const std::int64_t before = tree_.account().spent().policy_tokens;
      sample_together(some);
      each = std::max(each, (tree_.account().spent().policy_tokens - before) / some + 1);
    }
    std::sort(done_.begin(), done_.end(), [this](int a, int b) { return root_of(a) < root_of(b); });
  }

  // One at least is written, also without a critic.
  bool may_sample(int begun) const {
    return tree_.account().may_write() && (begun == 0 || !uses_critic() || tree_.account().may_judge());
  }

  int side_by_side(int wanted, std::int64_t each) const {
    const std::int64_t left = tree_.account().policy_tokens_left();
    if (left == kNoTokenLimit) return wanted;
    if (each == 0) return 1;
    return static_cast<int>(std::clamp<std::int64_t>(left / 2 / each, 1, wanted));
  }

  void sample_together(int count) {
    std::vector<int> lines;
    for (int i = 0; i < count; ++i) lines.push_back(tree_.add_root());
    while (!lines.empty()) {
      const std::vector<int> next = flat(tree_.expand(lines, 1));
      with_room(lines);
      if (uses_critic()) tree_.judge(next);
      lines = go_on(next);
    }
  }

  int root_of(int node) const {
    while (!tree_.at(node).is_root()) node = tree_.at(node).parent;
    return node;
  }

  void guided() {
    std::vector<int> line = {tree_.add_root()};
    while (!line.empty()) {
      const std::optional<int> step = attempt(line.front());
      with_room(line);
      line = step ? go_on({*step}) : std::vector<int>{};
    }
    choose_first_done();
  }

  // The step that is kept; nothing where the budget ended before one was.
  std::optional<int> attempt(int node) {
    std::vector<int> tried;
    const std::int64_t left = tree_.account().policy_tokens_left();
    for (int number = 1; number <= options_.attempts && (number == 1 || may_try_again(tried, left)); ++number) {
      const Writing writing = number == 1                     ? Writing::greedy
                              : options_.retry == Retry::anew ? Writing::anew
                                                              : Writing::sampled;
      const std::vector<int> written = tree_.expand(std::array{node}, 1, writing).front();
      if (written.empty() || tree_.at(written[0]).cut) break;
      tried.push_back(written[0]);
      tree_.judge(tried, Tree::Ahead{written[0], Writing::greedy});
      const auto& verdict = tree_.at(written[0]).verdict;
      if (!verdict || verdict->judgement != Judgement::incorrect)
        return kept(options_.keep == Keep::likeliest ? least_bad(tried) : written[0], number);
      tree_.note("reject", written[0]);
      ++answer_.rejected;
    }
    if (tried.empty()) return std::nullopt;
    --answer_.rejected;
    return kept(least_bad(tried), static_cast<int>(tried.size()));
  }

  // left: before the first attempt.
  bool may_try_again(const std::vector<int>& tried, std::int64_t left) {
    std::int64_t longest = 0;
    for (const int node : tried) longest = std::max<std::int64_t>(longest, std::ssize(tree_.at(node).token_ids));
    if (left == kNoTokenLimit || left - tree_.account().policy_tokens_left() + longest <= left / 4) return true;
    tree_.hold_back();
    return false;
  }

  int least_bad(const std::vector<int>& tried) const {
    if (options_.keep == Keep::last) return tried.back();
    if (options_.keep == Keep::best) return ranked(tree_, tried, Rank::last).front();
    return *std::max_element(tried.begin(), tried.end(), [&](int a, int b) { return likelihood(a) < likelihood(b); });
  }

  // ln of P(correct) times the policy's probability of what the step says; of a policy that does not tell, 1.
  double likelihood(int node) const {
    const Node& step = tree_.at(node);
    double sum = step.verdict && step.verdict->probability ? std::log(*step.verdict->probability) : 0;
    for (int i = 0; i < step.said && i < static_cast<int>(step.logprobs.size()); ++i)
      sum += static_cast<double>(step.logprobs[static_cast<std::size_t>(i)]);
    return sum;
  }

  int kept(int node, int attempts) {
    ++answer_.attempts[attempts];
    tree_.note("keep", node, attempts);
    return node;
  }

  void beam() {
    std::vector<int> beams = {tree_.add_root()};
    const auto places = static_cast<std::size_t>(options_.n);
    while (!beams.empty()) {
      keep_one_without_critic(beams);
      // n x width candidates are shared out, so that a beam that has thinned loses no width.
      const int each =
          tree_.account().may_judge() ? std::max(1, options_.n * options_.width / static_cast<int>(beams.size())) : 1;
      std::vector<int> next = without_twins(tree_, flat(tree_.expand(beams, each)));
      with_room(beams);
      tree_.judge(next);
      next = ranked(tree_, std::move(next), options_.rank);
      prune(next, places - std::min(places, done_.size()));
      const std::vector<int> before = std::move(beams);
      beams = go_on(next);
      release_turns(before, beams);
    }
    choose_first_ranked();
  }

  // Lines in the order of their rank.
  void keep_one_without_critic(std::vector<int>& lines) {
    if (!tree_.account().may_judge()) prune(lines, 1);
  }

  // In a beam nothing returns to a turn that no beam is in any more.
  void release_turns(const std::vector<int>& before, const std::vector<int>& beams) {
    for (const int node : before) {
      const bool used =
          std::any_of(beams.begin(), beams.end(), [&](int beam) { return tree_.at(beam).turn == tree_.at(node).turn; });
      if (!used) tree_.release(node);
    }
  }

  // Keeps the first `places` nodes.
  void prune(std::vector<int>& nodes, std::size_t places) {
    if (nodes.size() <= places) return;
    for (std::size_t i = places; i < nodes.size(); ++i) tree_.note("prune", nodes[i]);
    std::copy_if(nodes.begin() + static_cast<std::ptrdiff_t>(places), nodes.end(), std::back_inserter(spare_),
                 [&](int node) { return tree_.at(node).ends_turn; });
    answer_.rejected += static_cast<int>(nodes.size() - places);
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(places), nodes.end());
  }

  void diverse_beam() {
    const int root = tree_.add_root();
    std::vector<int> lines(static_cast<std::size_t>(options_.n), root);
    while (!lines.empty()) {
      if (!tree_.account().may_judge()) lines = ranked(tree_, std::move(lines), options_.rank);
      keep_one_without_critic(lines);
      const std::vector<std::vector<int>> written =
          tree_.expand(lines, tree_.account().may_judge() ? options_.width : 1);
      with_room(lines);
      tree_.judge(flat(written));
      std::vector<int> best;
      for (const std::vector<int>& candidates : written) {
        std::vector<int> in_order = ranked(tree_, without_twins(tree_, candidates), options_.rank);
        prune(in_order, 1);
        best.insert(best.end(), in_order.begin(), in_order.end());
      }
      lines = go_on(best);
    }
    choose_first_ranked();
  }

  // What tree search knows of a node.
  struct Visits {
    double count = 0, ranks = 0, sum = 0;  // visits; those with a rank, and the sum of these
    double prior = 1;
    std::vector<int> children;
    bool expanded = false;
  };

  void mcts() {
    const int root = tree_.add_root();
    for (int i = 0; i < options_.n && tree_.account().may_write() && (i == 0 || tree_.account().may_judge()); ++i) {
      int node = root;
      while (tree_.account().may_write() && !is_end(node)) {
        if (!visits_[node].expanded) grow(node);
        if (visits_[node].children.empty()) break;
        node = promising_child(node);
      }
      if (is_end(node) && !tree_.at(node).is_root()) add_visit(node, rank_of(tree_, node, options_.rank));
    }
    choose_first_ranked();
  }

  // Plays the turn that the node ends, once.
  bool is_end(int node) {
    if (tree_.at(node).is_root()) return tree_.at(node).full;
    if (tree_.at(node).ends_turn && !tree_.at(node).end) go_on({node});
    return tree_.at(node).is_over() || (tree_.at(node).ends_turn && !tree_.at(node).end);
  }

  void grow(int node) {
    const int width = tree_.account().may_judge() ? options_.width : 1;
    const std::vector<int> written = tree_.expand(std::array{node}, width).front();
    with_room({node});
    tree_.judge(written);
    Visits& parent = visits_[node];
    parent.expanded = true;
    parent.children = without_twins(tree_, written);
    const std::vector<int> children = parent.children;
    for (const int child : children) {
      const auto twins = std::count_if(written.begin(), written.end(), [&](int other) {
        return trim(tree_.at(other).text) == trim(tree_.at(child).text);
      });
      visits_[child].prior = static_cast<double>(twins) / static_cast<double>(written.size());
      add_visit(child, rank_of(tree_, child, options_.rank));
    }
  }

  // A visit without a rank counts as one, and says nothing of how good the nodes above it are.
  void add_visit(int node, std::optional<double> rank) {
    for (;; node = tree_.at(node).parent) {
      Visits& visits = visits_[node];
      ++visits.count;
      visits.ranks += rank.has_value();
      visits.sum += rank.value_or(0);
      if (tree_.at(node).is_root()) return;
    }
  }

  int promising_child(int node) {
    const Visits& parent = visits_.at(node);
    const double below = parent.ranks > 0 ? parent.sum / parent.ranks : 0;
    const auto promise = [&](int child) {
      const Visits& visits = visits_.at(child);
      const double mean = visits.ranks > 0 ? visits.sum / visits.ranks : below;
      return mean + kExploration * visits.prior * std::sqrt(parent.count) / (1 + visits.count);
    };
    return *std::max_element(parent.children.begin(), parent.children.end(),
                             [&](int a, int b) { return promise(a) < promise(b); });
  }

  struct Particle {
    int node = -1;
    double weight = 1;
    bool ended = false;
  };

  void particles() {
    const int root = tree_.add_root();
    std::vector<Particle> all(static_cast<std::size_t>(options_.n), Particle{root, 1, false});
    Rng rng = tree_.stream("particles");
    while (tree_.account().may_write() &&
           std::any_of(all.begin(), all.end(), [](const Particle& p) { return !p.ended; })) {
      move(all);
      resample(all, rng);
    }
    choose_by_weight(all);
  }

  // Every particle that has not ended takes a step.
  void move(std::vector<Particle>& all) {
    std::vector<int> lines;
    std::vector<Particle*> owners;
    for (Particle& particle : all) {
      if (particle.ended) continue;
      lines.push_back(particle.node);
      owners.push_back(&particle);
    }
    const std::vector<std::vector<int>> written = tree_.expand(lines, 1);
    with_room(lines);
    tree_.judge(flat(written));
    const std::vector<int> open = go_on(flat(written));
    for (std::size_t i = 0; i < owners.size(); ++i) {
      Particle& particle = *owners[i];
      particle.ended = true;
      if (written[i].empty()) continue;  // no room, or no budget
      particle.node = written[i].front();
      const auto& verdict = tree_.at(particle.node).verdict;
      if (verdict && verdict->probability) particle.weight *= *verdict->probability;
      particle.ended = std::find(open.begin(), open.end(), particle.node) == open.end();
    }
  }

  static void resample(std::vector<Particle>& all, Rng& rng) {
    double sum = 0, squares = 0;
    for (const Particle& particle : all) {
      sum += particle.weight;
      squares += particle.weight * particle.weight;
    }
    const double count = static_cast<double>(all.size());
    if (sum <= 0 || sum * sum / squares >= count / 2) return;
    std::vector<Particle> drawn;
    double below = 0, mark = rng.uniform();  // marks 1 apart on the weights laid end to end, `count` long
    for (const Particle& particle : all) {
      below += particle.weight / sum * count;
      for (; mark < below && drawn.size() < all.size(); ++mark) drawn.push_back({particle.node, 1, particle.ended});
    }
    while (drawn.size() < all.size()) drawn.push_back({all.back().node, 1, all.back().ended});  // rounding
    all = std::move(drawn);
  }

  void choose_by_weight(const std::vector<Particle>& all) {
    std::map<int, double> weights;
    for (const Particle& particle : all) weights[particle.node] += particle.weight;
    std::erase_if(done_, [&](int node) { return !weights.contains(node); });
    choose_by_vote([&](int node) { return weights.at(node); });
  }

  void choose_first_done() {
    if (!done_.empty()) answer_.node = done_.front();
  }

  // Where nothing has got to its end, a whole turn that was pruned is better than no answer.
  void play_spare() {
    for (const int node : ranked(tree_, spare_, options_.rank))
      if (done_.empty() && !tree_.at(node).end) go_on({node});
  }

  void choose_first_ranked() {
    play_spare();
    count_unranked();
    done_ = ranked(tree_, done_, options_.rank);
    choose_first_done();
  }

  void count_unranked() {
    answer_.unranked = static_cast<int>(
        std::count_if(done_.begin(), done_.end(), [this](int node) { return !rank_of(tree_, node, options_.rank); }));
  }

  // Of the trajectories with an answer and a weight; without any, the first at its end.
  void choose_by_vote(const std::function<std::optional<double>(int)>& weight) {
    std::vector<env::Vote> votes;
    std::vector<int> owners;
    bool boxes = false;
    for (const int node : done_) {
      const auto answer = env::extract_answer(tree_.turn_text(node));
      const std::optional<double> heavy = weight(node);
      if (!answer || !heavy) continue;
      votes.push_back({*answer, *heavy});
      owners.push_back(node);
      boxes = boxes || env::parse_box(*answer);
    }
    const auto winner = env::winning_vote(votes, boxes);
    if (winner)
      answer_.node = owners[*winner];
    else
      choose_first_done();
  }

  Tree& tree_;
  const MethodOptions& options_;
  Answer answer_;
  std::vector<int> done_;   // at their end
  std::vector<int> spare_;  // pruned, and they end a turn
  std::map<int, Visits> visits_;
};

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
        "search: {} ranks trajectories that are not at their end, and a score stands behind the whole. Take "
        "another --rank than score.",
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
  return Searcher(tree, options).run();
}

}  // namespace agon::critic
