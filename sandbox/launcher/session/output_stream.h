// sandbox/launcher/session/output_stream.h - the pipe that a session's standard output or error goes through.
#pragma once

#include <cstdint>

#include "core/descriptor.h"
#include "sandbox/launcher/session/output_buffer.h"

namespace agon::sandbox::launcher {

// Gives the writing end; ours, kept in `reading`, never blocks. Throws std::system_error.
Descriptor make_stream(Descriptor& reading);

// What a stream's pipe holds, at most `most` bytes; without a buffer they are dropped. Gives their number.
std::int64_t drain_into(int pipe, OutputBuffer* buffer, std::int64_t most);

}  // namespace agon::sandbox::launcher
