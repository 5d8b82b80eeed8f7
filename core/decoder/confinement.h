// core/decoder/confinement.h - shared by the programs that decode hostile files: the socket at descriptor 0, and limits
// on what they may do. Each function ends the process if it fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace agon::decoder {

// Transfer all bytes. End the process if agon has closed its end of the socket.
void send_all(const void* bytes, std::size_t count);
void receive_all(void* bytes, std::size_t count);

std::uint64_t mapped_bytes();  // address space that this process has
// Limits the address space from now on to `mapped`, its size at the start, plus `more`.
void limit_memory(std::uint64_t mapped, std::uint64_t more);
// SIGPROF ends the process once it has used this much more CPU time; 0: never.
void limit_cpu(std::uint32_t milliseconds);

// From here on the process may use at most `memory` bytes of address space, descriptors below `descriptors`, the
// socket, the clock and the system calls `more`. It cannot write files or run programs.
void shut_in(std::uint64_t memory, std::uint64_t descriptors, std::initializer_list<int> more = {});

}  // namespace agon::decoder
