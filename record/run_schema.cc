#include "record/run_schema.h"

#include "core/error.h"

namespace agon::record {

void check_run_schema(const std::filesystem::path& database, int application_id, int version) {
  if (application_id != kRunApplicationId)
    throw Error("{}: not a run of agon. Give the folder that `agon run --out` wrote.", database.string());
  if (version < kOldestRunSchemaVersion || version > kRunSchemaVersion)
    throw Error("{}: schema version {}; this agon reads versions {} to {}. Read it with the agon that wrote it.",
                database.string(), version, kOldestRunSchemaVersion, kRunSchemaVersion);
}

}  // namespace agon::record
