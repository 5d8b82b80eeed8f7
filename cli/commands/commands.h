// cli/commands/commands.h - the subcommands of agon, one file each, in a folder for each group of `agon --help`.
// add_xxx registers the subcommand with its flags; its work runs inside CLI::App::parse. Errors are thrown as
// agon::Error, which main prints as one line before it exits with 1.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

// Thrown by a subcommand that has already printed its error: exit with 1, nothing more is printed.
struct Failed {};

void add_bench(CLI::App& app);
void add_cache(CLI::App& app);
void add_complete(CLI::App& app);
void add_completion(CLI::App& app);
void add_convert(CLI::App& app);
void add_credit(CLI::App& app);
void add_decompose(CLI::App& app);
void add_doctor(CLI::App& app);
void add_eval(CLI::App& app);
void add_eval_critic(CLI::App& app);
void add_eval_rm(CLI::App& app);
void add_exec(CLI::App& app);
void add_grade(CLI::App& app);
void add_help(CLI::App& app);
void add_index(CLI::App& app);
void add_inspect(CLI::App& app);
void add_make_preferences(CLI::App& app);
void add_man(CLI::App& app);
void add_pull(CLI::App& app);
void add_query(CLI::App& app);
void add_replay(CLI::App& app);
void add_report(CLI::App& app);
void add_run(CLI::App& app);
void add_score(CLI::App& app);
void add_search(CLI::App& app);
void add_selfplay(CLI::App& app);
void add_serve(CLI::App& app);
void add_serve_search(CLI::App& app);
void add_show(CLI::App& app);
void add_suites(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_train(CLI::App& app);
void add_train_rm(CLI::App& app);
void add_train_sft(CLI::App& app);
void add_version(CLI::App& app);

}  // namespace agon::cli
