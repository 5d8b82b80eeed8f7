// tests/sandbox/abuse_runner/launcher_processes.h - the memory, CPU time, disk space and descriptors of a launcher and
// its descendants, from the host's /proc. launcher: its process id.
#pragma once

#include <filesystem>
#include <string>

namespace agon::sandbox::abuse {

std::string text_of(const std::filesystem::path& path);  // a file of /proc; empty if it no longer exists

// Bytes of memory that the processes of a launcher have. A page counts once per process that has it.
double memory_of(const std::string& launcher);

// Seconds of CPU time that the living processes of a launcher have used.
double cpu_of(const std::string& launcher);

// Bytes on disk of the folder that a launcher holds locked (tier C).
double disk_of(const std::string& launcher);

// Whether a process of the launcher has inherited a descriptor of the canary that this program has open.
bool has_canary_open(const std::string& launcher);

}  // namespace agon::sandbox::abuse
