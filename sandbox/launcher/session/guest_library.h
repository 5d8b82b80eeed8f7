// sandbox/launcher/session/guest_library.h - native functions that harness.py calls in the interpreter: a fork into
// other namespaces for the price of a normal one, and functions that confine the child.
#pragma once

extern "C" {

// Like fork(), but the child is in the given namespaces (descriptors: user, mount, pid, or none) and is not a child of
// the caller. An intermediate process, which borrows the caller's memory as vfork's does, sends `said` on `channel`,
// enters the namespaces, and forks there: only a process that is started inside a pid namespace belongs to it. tid:
// where the C library keeps the thread's number (PR_GET_TID_ADDRESS). For a caller with one thread. Returns 0 in the
// child, 1 in the parent, -1 on failure.
int agon_fork(const int* namespaces, int count, int channel, const char* said, int size, int* tid);

// Moves the memory at `count` places, each from ranges[2 i] to ranges[2 i + 1] and without a hole, into `file` and maps
// it from there, for this process alone. Each place becomes one mapping, whose pages cost a fork nothing until they are
// written. A place that cannot be copied stays as it is; if mapping fails, so do all later places. No place may contain
// memory that this function writes.
void agon_gather(int file, const unsigned long* ranges, int count);

// Drops all capabilities permanently. The supervisor checks that they are gone.
void agon_drop_capabilities();

// Restricts the process's file access permanently: full access beneath `home` and `forks`, reading beneath the folders
// of `readable` (which ends with null), and the devices of /dev. Earlier restrictions still apply. Returns 0, or -1
// with errno.
int agon_confine(const char* home, const char* forks, const char* const* readable);

}  // extern "C"
