#include "net/byte_budget.h"

#include <utility>

namespace agon::net {

ByteBudget::Lease::Lease(Lease&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ByteBudget::Lease& ByteBudget::Lease::operator=(Lease&& other) noexcept {
  std::swap(budget_, other.budget_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

ByteBudget::Lease::~Lease() {
  if (budget_) budget_->held_ -= bytes_;
}

bool ByteBudget::Lease::resize(std::size_t bytes) {
  if (!budget_) return true;
  if (bytes <= bytes_) {
    budget_->held_ -= bytes_ - bytes;
    bytes_ = bytes;
    return true;
  }
  const std::size_t more = bytes - bytes_;
  std::size_t held = budget_->held_;
  do {
    if (more > budget_->most_ || held > budget_->most_ - more) {
      ++budget_->refusals_;
      return false;
    }
  } while (!budget_->held_.compare_exchange_weak(held, held + more));
  bytes_ = bytes;
  return true;
}

}  // namespace agon::net
