// sandbox/launcher/isolation/container.h - containers by other programs (bwrap, docker, podman), which make the outer
// namespaces and the root in place of isolation.h and start this launcher again inside. agon still runs everything
// inside (template, sessions, their limits).
#pragma once

#include <string>
#include <vector>

#include "core/descriptor.h"
#include "sandbox/backend.h"

namespace agon::sandbox::launcher {

struct Contained {
  std::vector<std::string> readable;  // folders besides /usr
  std::string launcher;               // the folder of agon-sandbox and its library
  std::string request;                // for the launcher inside, as its last argument
};

// The command lines, for tests. Of bwrap without the files that it makes from descriptors.
std::vector<std::string> bwrap_command(const Contained& contained);
// image: one that holds nothing but links to /usr; the host's programs are bound into it read-only.
std::vector<std::string> engine_command(Backend engine, const Contained& contained, const std::string& image);

// Runs the backend's program, which starts `agon-sandbox CONTROL REQUEST` inside (CONTROL is "-" for an engine: its
// standard streams), until it ends. environment: its own, NAME=VALUE; PATH says where it is. Throws Error, with the
// program's output and what to do, if the program is missing, or an engine does not answer or refuses to run a
// container.
void run_backend(Backend backend, const Contained& contained, const std::vector<std::string>& environment,
                 const Descriptor& control);

// A socket whose other end is this process's standard input and output, carried by a process of its own.
Descriptor control_from_standard_streams();

}  // namespace agon::sandbox::launcher
