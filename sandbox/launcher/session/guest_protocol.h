// sandbox/launcher/session/guest_protocol.h - the messages between the supervisor and harness.py, in frames
// (sandbox/frame.h): one letter, then the letter's payload.
//   to the guest    r  u32 length, name, code     run the code; q: the same, but a last bool value is not printed
//                   f  and the descriptors         fork: the new session's channel, stdout, stderr; its user, mount and
//                                                  pid namespaces, if there are any
//                   g  folder of the files         continue
//                   z  u64 seed                    restart the streams of random numbers
//   from the guest  h                              the interpreter is ready (the template, then every session)
//                   d  CodeOutcome, text           the code has ended
//                   f  text                        the fork is done (empty), or the reason why not
//                   i                              this process is about to enter the new session's namespaces
//                   s                              this process is in them, and has given up its capabilities
//                   e  text                        the reason why it could not enter
// The kernel reports who sent a frame (SCM_CREDENTIALS). A frame from any process except the one that may send it is
// invalid.
#pragma once

#include <cstddef>

namespace agon::sandbox::launcher {

enum class CodeOutcome : unsigned char { ok, exception, memory, process, disk, interrupted };

inline constexpr int kGuestChannel = 3;               // descriptor in the guest
inline constexpr int kGuestHarness = 4;               // where the template reads its code
inline constexpr int kGuestLibrary = 5;               // and its library (guest_library.h)
inline constexpr int kGuestGathered = 6;              // an empty file in memory, for libraries (agon_gather)
inline constexpr std::size_t kMostGuestFrame = 8192;  // bytes; a session's answers are short

}  // namespace agon::sandbox::launcher
