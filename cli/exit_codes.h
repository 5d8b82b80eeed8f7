// cli/exit_codes.h - the exit codes of agon and their meaning, used by the manual and by cli/main.cc, which chooses
// one.
#pragma once

namespace agon::cli {

inline constexpr int kDone = 0, kFailed = 1, kWrongUsage = 2, kStopped = 130;

struct ExitCode {
  int code;
  const char* meaning;
};
inline constexpr ExitCode kExitCodes[] = {
    {kDone, "The work is done"},
    {kFailed, "The work failed, or only a part of it was done; the last line on standard error says why"},
    {kWrongUsage,
     "The command line itself is wrong; an error in the contents of a file, folder or server that it names ends with "
     "1"},
    {kStopped, "Ctrl-C or SIGTERM stopped the command; what was recorded stays, and --resume continues the run"}};

}  // namespace agon::cli
