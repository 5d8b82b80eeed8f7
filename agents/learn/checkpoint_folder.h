// agents/learn/checkpoint_folder.h - OUTPUT/checkpoint: at every moment one whole checkpoint exists, whenever the
// process is killed.
#pragma once

#include <filesystem>
#include <functional>

namespace agon::agents {

// Calls fill with an empty folder, then puts that in the place of OUTPUT/checkpoint.
void write_checkpoint(const std::filesystem::path& output,
                      const std::function<void(const std::filesystem::path& folder)>& fill);
// The folder of the last checkpoint; empty if there is none. Finishes an exchange that was cut off.
std::filesystem::path find_checkpoint(const std::filesystem::path& output);
// A training that was refused before it recorded anything is in nobody's way: removes its files (the database, its
// settings, its events) from OUTPUT. Nothing where there is a checkpoint, an episode, a metric, or no run.
void remove_empty_run(const std::filesystem::path& output);

}  // namespace agon::agents
