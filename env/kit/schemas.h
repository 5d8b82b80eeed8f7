// env/kit/schemas.h - JSON Schemas that suites share, for SuiteInfo::observation_schema and action_schema
// (env/suite.h).
#pragma once

#include <string>

#include "core/json.h"

namespace agon::env {

Json message_schema(bool shows_videos = false);           // of a message of text and pictures
Json text_action_schema(const std::string& description);  // of a turn of free text, which `description` explains

}  // namespace agon::env
