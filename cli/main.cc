// agon - the command line of the gym. cli/exit_codes.h has its exit codes.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <string_view>

#include "agents/learn/network/torch_environment.h"
#include "cli/commands/commands.h"
#include "cli/exit_codes.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/text.h"

namespace {

using agon::cli::kFailed, agon::cli::kStopped, agon::cli::kWrongUsage;

int fail(std::string_view what, int code) {
  std::cout.flush();
  std::fflush(stdout);
  constexpr std::size_t kMostTold = 16 << 10;
  const std::string_view told = what.substr(0, kMostTold);  // it may quote a file
  std::fputs(fmt::format("agon: {}{}\n", agon::printable(told), told.size() < what.size() ? "..." : "").c_str(),
             stderr);  // if even that fails, the exit code shows it
  return code;
}

int run(CLI::App& app, int argc, char** argv) {
  app.parse(argc, argv);
  if (app.get_subcommands().empty()) {
    std::cerr << app.help();
    return kWrongUsage;
  }
  return agon::cli::kDone;
}

// A file that the program opens must not become a standard stream. A closed stream stays unwritable.
void fill_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
}

// Output that could not be written (full disk) is a failure like any other.
int flush_output(int code) {
  const bool lost = !std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  return lost && code == 0
             ? fail("standard output could not be written: the disk may be full, or its reader gone.", kFailed)
             : code;
}

}  // namespace

int main(int argc, char** argv) {
  agon::agents::set_torch_environment();
  fill_standard_descriptors();
  std::signal(SIGCHLD, SIG_DFL);     // the parent may have ignored it, and then waiting for processes fails
  std::signal(SIGXFSZ, [](int) {});  // a write above the size limit of files then fails with an error
  agon::cli::record_program(argc, argv);
  const auto program = agon::cli::make_program();
  CLI::App& app = *program;
  try {
    return flush_output(run(app, argc, argv));
  } catch (const CLI::CallForVersion& request) {
    const auto unread = app.remaining(true);
    if (!unread.empty()) return fail(agon::cli::usage_message(app, CLI::ExtrasError(unread)), kWrongUsage);
    return flush_output(app.exit(request));
  } catch (const CLI::Success& request) {  // --help
    return flush_output(app.exit(request));
  } catch (const CLI::ParseError& error) {
    return fail(agon::cli::usage_message(app, error), kWrongUsage);
  } catch (const agon::cli::Interrupted& stopped) {
    return fail(stopped.what(), kStopped);
  } catch (const agon::cli::WrongUsage& error) {
    return fail(error.what(), kWrongUsage);
  } catch (const agon::cli::Failed&) {
    return flush_output(kFailed);
  } catch (const agon::Error& error) {
    return fail(error.what(), kFailed);
  } catch (const std::bad_alloc&) {
    return fail("out of memory. Use fewer --in-flight or --samples, smaller pictures, or a smaller model.", kFailed);
  } catch (const std::exception& error) {  // of a library; LibTorch's messages have a stack trace
    const std::string_view what = error.what();
    return fail(what.substr(0, what.find('\n')), kFailed);
  }
}
