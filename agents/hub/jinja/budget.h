// agents/hub/jinja/budget.h - limits the resources of one run of a template. Templates are untrusted programs: one that
// loops, grows or nests without end stops with an Error that names the limit.
#pragma once

#include <cstddef>

#include "core/error.h"

namespace agon::agents::jinja {

struct TemplateLimits {
  std::size_t steps = 10'000'000;              // expressions, statements and elements visited
  std::size_t bytes = std::size_t{512} << 20;  // of all texts and lists created, even if freed
  std::size_t output = std::size_t{16} << 20;  // of the rendered text
  int depth = 250;                             // of nested evaluations, including macro calls
};

class TemplateBudget {
 public:
  explicit TemplateBudget(const TemplateLimits& limits) : limits_(limits) {}
  const TemplateLimits& limits() const { return limits_; }
  void spend_steps(std::size_t steps) {
    if (steps > limits_.steps - steps_) throw Error("it takes more than {} steps", limits_.steps);
    steps_ += steps;
  }
  void spend_bytes(std::size_t bytes) {
    if (bytes > limits_.bytes - bytes_) throw Error("it makes more than {} bytes of values", limits_.bytes);
    bytes_ += bytes;
  }
  // Throws like the above. Call it before creating a value of `count` times `bytes`.
  void spend_bytes(std::size_t count, std::size_t bytes) {
    if (bytes != 0 && count > limits_.bytes / bytes) spend_bytes(limits_.bytes + 1);
    spend_bytes(count * bytes);
  }

  // Counts one level of depth while it lives.
  class Level {
   public:
    explicit Level(TemplateBudget& budget) : budget_(budget) {
      if (budget_.depth_ == budget_.limits_.depth)
        throw Error("it nests more than {} evaluations", budget_.limits_.depth);
      ++budget_.depth_;
    }
    ~Level() { --budget_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    TemplateBudget& budget_;
  };

 private:
  const TemplateLimits limits_;
  std::size_t steps_ = 0, bytes_ = 0;
  int depth_ = 0;
};

}  // namespace agon::agents::jinja
