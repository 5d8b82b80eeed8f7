// core/provenance.h - records where a figure or a file comes from: which agon wrote it, with what command, when and on
// which machine. It is one record under one key in every config, store, JSON and page.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace agon {

inline constexpr const char* kProvenance = "provenance";

// Describes this process. The program calls it once, before it starts threads. commit: "28fdaac3b1c2", with "-dirty"
// appended if sources differed. command: its words; none of them may hold a secret.
void set_program(const std::string& version, const std::string& commit, const std::vector<std::string>& command);

// {"version", "commit", "command", "date" (UTC, of the start), "machine": {"processor", "cores", "memory_gib"}} of this
// process and the keys of `about` (models and files by path and hash). Without a call of set_program, `about` alone.
Json provenance(Json about = Json::object());

// One line of it for a person: "agon 0.1.0 (commit 28fdaac3b1c2), 2026-01-31T23:59:59Z, AMD EPYC (2 cores): agon run".
// Empty if it has no version.
std::string provenance_text(const Json& provenance);

// The subcommand of the process: "run" of "agon run --suite charts". Empty if it has no command.
std::string provenance_subcommand(const Json& provenance);

// A config without its provenance: it says what a run does, not who wrote it.
Json without_provenance(Json config);

}  // namespace agon
