// cli/provenance.h - what this program adds to core/provenance.h: the record of its own command line, and the models
// and files that a command reads, each by path and hash.
#pragma once

#include <filesystem>
#include <string>

#include "agents/open_policy.h"
#include "core/json.h"

namespace agon::cli {

// Passes this command line to set_program (core/provenance.h). Passwords in URLs are left out.
void record_program(int argc, const char* const* argv);

Json model_record(const std::filesystem::path& folder);  // {"path", "files": the hash of agents::model_fingerprint}
// The same for a policy: an adapter also has its base's record as "base"; a server has its address and model.
Json policy_record(const agents::PolicySource& source);
Json file_record(const std::filesystem::path& file);  // {"path", "hash"}, of the bytes

// {"path", "hash"} of a run's database as it is now.
Json run_record(const std::filesystem::path& folder);

// Prints the object, or the list of objects, each with the provenance of this process and `about`, in the form of
// cli/printed_json.h.
void print_measured(Json json, const Json& about = Json::object());

}  // namespace agon::cli
