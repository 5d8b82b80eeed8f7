// tests/sandbox/abuse_runner/launcher_processes.h - what a launcher and all that it started have, as the host's /proc
// shows it. `launcher`: its process id.
#pragma once

#include <filesystem>
#include <string>

namespace agon::sandbox::abuse {

std::string text_of(const std::filesystem::path& path);  // a file of /proc; empty: it is gone

// Bytes of memory that the processes of a launcher have, each page as often as it has owners.
double memory_of(const std::string& launcher);

// Seconds of CPU time that the living processes of a launcher have used.
double cpu_of(const std::string& launcher);

// Bytes on disk of the folder that a launcher holds locked (tier C).
double disk_of(const std::string& launcher);

// Whether a process of the launcher has a descriptor that this program had open, and was not told of.
bool has_canary_open(const std::string& launcher);

}  // namespace agon::sandbox::abuse
