// sandbox/launcher/isolation/container.h - runs the sandbox in a container of another program (bwrap, docker, podman).
// That program makes the outer namespaces and the root instead of isolation.h and starts this launcher again inside.
// agon still runs everything inside (template, sessions, their limits).
#pragma once

#include <string>
#include <vector>

#include "core/descriptor.h"
#include "sandbox/backend.h"

namespace agon::sandbox::launcher {

struct Contained {
  std::vector<std::string> readable;  // folders in addition to /usr
  std::string launcher;               // the folder of agon-sandbox and its library
  std::string request;                // for the launcher inside, as its last argument
};

// The command lines; public for tests. bwrap's lacks the files that run_backend passes to it as
// descriptors.
std::vector<std::string> bwrap_command(const Contained& contained);
// image: one that holds nothing but links to /usr; the host's programs are bound into it read-only.
std::vector<std::string> engine_command(Backend engine, const Contained& contained, const std::string& image);

// Runs the backend's program until it ends. It starts `agon-sandbox CONTROL REQUEST` inside; for an engine, CONTROL is
// "-": its standard streams. environment: of the program, NAME=VALUE; PATH says where it is. Throws Error, with the
// program's output and what to do, if the program is missing, or an engine does not answer or refuses to run a
// container.
void run_backend(Backend backend, const Contained& contained, const std::vector<std::string>& environment,
                 const Descriptor& control);

// A socket that stands in for this process's standard input and output; a process of its own copies the bytes.
Descriptor control_from_standard_streams();

}  // namespace agon::sandbox::launcher
