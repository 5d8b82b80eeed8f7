// sandbox/launcher/session/guest_library.h - a library for the interpreter, loaded and called by harness.py: a fork
// into other namespaces at the price of one, and what confines the child.
#pragma once

extern "C" {

// Like fork(), but the child is in the namespaces whose descriptors are given (user, mount, pid, or none), and no child
// of the caller's. A process between, which borrows the caller's memory as vfork's does, says `said` on `channel`,
// enters, and forks from there: only what is started from within a pid namespace is in it. tid: where the C library
// keeps the thread's number (PR_GET_TID_ADDRESS). For a caller with one thread; 0 in the child, 1 in the parent, -1
// when it could not be done.
int agon_fork(const int* namespaces, int count, int channel, const char* said, int size, int* tid);

// Moves what lies at `count` places, each from ranges[2 i] to ranges[2 i + 1] and without a hole, into `file` and maps
// it from there, for this process alone: one mapping where there were many, whose pages cost a fork nothing until they
// are written. From the first place that cannot be moved all stay as they are. None may hold what this function writes.
void agon_gather(int file, const unsigned long* ranges, int count);

// All of them, for good. The supervisor looks whether they are gone.
void agon_drop_capabilities();

// For good: of the file system, what is beneath `home` and `forks`, reading beneath the folders of `readable` (which
// ends with null), and what was allowed before. 0, or -1 with errno.
int agon_confine(const char* home, const char* forks, const char* const* readable);

}  // extern "C"
