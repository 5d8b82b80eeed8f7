// net/byte_budget.h - a bound on the bytes that all requests and answers of a server hold together
// (HttpLimits::most_held_bytes), and leases of them. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>

namespace agon::net {

class ByteBudget {
 public:
  explicit ByteBudget(std::size_t most) : most_(most) {}
  // The bytes that one request or answer holds, until the lease ends. Used by one thread at a time.
  class Lease {
   public:
    Lease() = default;
    explicit Lease(ByteBudget& budget) : budget_(&budget) {}
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();
    // False, and the lease is unchanged: the budget has too few free bytes.
    bool resize(std::size_t bytes);
    std::size_t bytes() const { return bytes_; }

   private:
    ByteBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };
  std::size_t held() const { return held_; }
  std::size_t refusals() const { return refusals_; }  // so far

 private:
  const std::size_t most_;
  std::atomic<std::size_t> held_ = 0, refusals_ = 0;
};

}  // namespace agon::net
