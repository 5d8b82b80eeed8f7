// tests/support/failing_memory.h - makes one allocation of the program fail. operator new of agents_tests is replaced
// (failing_memory.cc).
#pragma once

namespace agon::test {

// While it lives, allocation number `number` (from 0) of all threads throws std::bad_alloc. Allocations of the
// thread that made it, and of threads that are spared, do not count. Only one may live at a time.
class FailingMemory {
 public:
  explicit FailingMemory(long number);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  bool has_failed() const;
};

void spare_this_thread();

}  // namespace agon::test
