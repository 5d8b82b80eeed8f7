// sandbox/launcher/session/output_stream.h - the pipe that a session's standard output or error goes through.
#pragma once

#include <cstdint>

#include "core/descriptor.h"
#include "sandbox/launcher/session/output_buffer.h"

namespace agon::sandbox::launcher {

// Returns the writing end. The reading end, stored in `reading`, never blocks. Throws std::system_error.
Descriptor make_stream(Descriptor& reading);

// Reads at most `most` bytes of a stream's pipe into `buffer`, or drops them if it is null. Returns their number.
std::int64_t drain_into(int pipe, OutputBuffer* buffer, std::int64_t most);

}  // namespace agon::sandbox::launcher
