// cli/report/self_play.h - the part of a report that shows self-play: its rounds, and the games played in them.
#pragma once

#include "cli/report/data.h"
#include "core/json.h"
#include "record/run_reader.h"

namespace agon::cli {

// Adds {images} and "self_play": {rounds [{round, games, invalid, harmless, caught, fools, unjudged, win_rate: the
// share of harmful steps that fool the critic}], games [as critic/self_play/games.h has them, with round], total,
// damaged: games that cannot be read and are skipped}. The games are the first ones of each round, within limits.tasks
// in total and limits.bytes.
void add_self_play(const record::RunReader& run, const ReportLimits& limits, Json& data);

}  // namespace agon::cli
