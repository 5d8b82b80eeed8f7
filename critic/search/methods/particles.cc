#include "critic/search/methods/searcher.h"

#include <algorithm>
#include <map>

#include "core/rng.h"

namespace agon::critic {
namespace {

struct Particle {
  int node = -1;
  double weight = 1;
  bool ended = false;
};

class Particles : public Searcher {
 public:
  using Searcher::Searcher;

  Answer run() {
    const int root = tree_.add_root();
    std::vector<Particle> all(static_cast<std::size_t>(options_.n), Particle{root, 1, false});
    Rng rng = tree_.stream("particles");
    while (account_.may_write() && std::any_of(all.begin(), all.end(), [](const Particle& p) { return !p.ended; })) {
      move(all);
      resample(all, rng);
    }
    return by_weight(all);
  }

 private:
  // Moves every particle that has not ended by one step.
  void move(std::vector<Particle>& all) {
    std::vector<int> lines;
    std::vector<Particle*> owners;
    for (Particle& particle : all) {
      if (particle.ended) continue;
      lines.push_back(particle.node);
      owners.push_back(&particle);
    }
    const std::vector<std::vector<int>> written = tree_.expand(lines, 1);
    end_full(lines);
    tree_.judge(flat(written));
    const std::vector<int> open = go_on(flat(written));
    for (std::size_t i = 0; i < owners.size(); ++i) {
      Particle& particle = *owners[i];
      particle.ended = true;
      if (!written[i].empty()) {
        particle.node = written[i].front();
        const auto& verdict = tree_.at(particle.node).verdict;
        if (verdict && verdict->probability) particle.weight *= *verdict->probability;
        particle.ended = std::find(open.begin(), open.end(), particle.node) == open.end();
      }
      if (particle.ended && !is_done(particle.node)) particle.weight = 0;  // ended by the budget: not an answer
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
    double below = 0, mark = rng.uniform();  // marks at distance 1 on the cumulative weights (0 .. count)
    for (const Particle& particle : all) {
      below += particle.weight / sum * count;
      for (; mark < below && drawn.size() < all.size(); ++mark) drawn.push_back({particle.node, 1, particle.ended});
    }
    while (drawn.size() < all.size()) drawn.push_back({all.back().node, 1, all.back().ended});  // rounding
    all = std::move(drawn);
  }

  Answer by_weight(const std::vector<Particle>& all) {
    std::map<int, double> weights;
    for (const Particle& particle : all) weights[particle.node] += particle.weight;
    std::erase_if(done_, [&](int node) { return !weights.contains(node); });
    return by_vote([&](int node) { return weights.at(node); });
  }
};

}  // namespace

Answer particles(Tree& tree, const MethodOptions& options) { return Particles(tree, options).run(); }

}  // namespace agon::critic
