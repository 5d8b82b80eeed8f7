// agon - the command line of the gym. Exit codes: 0 done, 1 the work could not be done, 2 the command line is wrong.
#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <string_view>

#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/provenance.h"
#include "cli/usage.h"
#include "cli/version.h"
#include "core/error.h"
#include "core/text.h"

namespace {

void add_commands(CLI::App& app) {
  using namespace agon::cli;
  add_complete(app);
  add_credit(app);
  add_decompose(app);
  add_doctor(app);
  add_eval(app);
  add_eval_critic(app);
  add_eval_rm(app);
  add_exec(app);
  add_grade(app);
  add_index(app);
  add_make_preferences(app);
  add_query(app);
  add_replay(app);
  add_report(app);
  add_run(app);
  add_score(app);
  add_search(app);
  add_selfplay(app);
  add_serve_search(app);
  add_show(app);
  add_suites(app);
  add_train(app);
  add_train_rm(app);
  add_train_sft(app);
}

int fail(std::string_view what, int code) {
  std::cout.flush();
  std::fflush(stdout);
  constexpr std::size_t kMostTold = 16 << 10;
  const std::string_view told = what.substr(0, kMostTold);  // it may quote a file
  std::fputs(fmt::format("agon: {}{}\n", agon::printable(told), told.size() < what.size() ? "..." : "").c_str(),
             stderr);  // where even that fails, the code says it
  return code;
}

int run(CLI::App& app, int argc, char** argv) {
  app.parse(argc, argv);
  if (app.get_subcommands().empty()) {
    std::cerr << app.help();
    return 2;
  }
  return 0;
}

// A file that the program opens must not stand where somebody prints. What is closed stays unwritable.
void fill_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
}

// Output that did not reach its reader (a full disk) is a failure like any other.
int flush_output(int code) {
  const bool lost = !std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  return lost && code == 0 ? fail("standard output could not be written. Is the disk full?", 1) : code;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  std::signal(SIGCHLD, SIG_DFL);     // whoever started agon may ignore it, and then nobody can wait for a process
  std::signal(SIGXFSZ, [](int) {});  // a file that may not grow fails to be written; children have their own say
  agon::cli::record_program(argc, argv);
  CLI::App app("A gym for multimodal agents.", "agon");
  app.set_version_flag("--version", [] { return "agon " + agon::cli::version(); });
  app.get_formatter()->column_width(36);
  app.require_subcommand(0, 1);  // a word behind a subcommand is its own, even where it is the name of another
  add_commands(app);
  try {
    return flush_output(run(app, argc, argv));
  } catch (const CLI::Success& request) {  // --help and --version
    return flush_output(app.exit(request));
  } catch (const CLI::ParseError& error) {
    return fail(agon::cli::usage_message(app, error), 2);
  } catch (const agon::cli::Interrupted& stopped) {
    return fail(stopped.what(), 130);
  } catch (const agon::cli::Failed&) {
    return flush_output(1);
  } catch (const agon::Error& error) {
    return fail(error.what(), 1);
  } catch (const std::bad_alloc&) {
    return fail("out of memory. Use fewer --in-flight or --samples, smaller pictures, or a smaller model.", 1);
  } catch (const std::exception& error) {  // of a library; LibTorch's go on with a stack trace
    const std::string_view what = error.what();
    return fail(what.substr(0, what.find('\n')), 1);
  }
}
