// core/decoder/confinement.h - what the programs that decode hostile files share: the socket at descriptor 0, and
// limits on what they may do. Each function ends the process where it fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace agon::decoder {

// Whole, or the process ends: the one that asked is gone.
void send_all(const void* bytes, std::size_t count);
void receive_all(void* bytes, std::size_t count);

std::uint64_t mapped_bytes();  // address space that this process has
// The address space from now on: `mapped`, what it was at the start, and `more`.
void limit_memory(std::uint64_t mapped, std::uint64_t more);
// SIGPROF ends the process once it has used this much more CPU time; 0: never.
void limit_cpu(std::uint32_t milliseconds);

// From here on: memory (address space, in all), descriptors below `descriptors`, the socket, the clock, the system
// calls `more`, and nothing else. No file is written, no program is run.
void shut_in(std::uint64_t memory, std::uint64_t descriptors, std::initializer_list<int> more = {});

}  // namespace agon::decoder
