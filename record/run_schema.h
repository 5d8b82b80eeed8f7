// record/run_schema.h - the tables of run.sqlite, shared by the writer and the reader (described in docs/store.md). A
// new run gets all scripts below. An older run is read as it is; resuming it adds the scripts that it lacks.
#pragma once

#include <filesystem>
#include <string>

namespace agon::record {

inline constexpr const char* kRunDatabase = "run.sqlite";
inline constexpr int kRunSchemaVersion = 5;           // PRAGMA user_version; raised with every change below
inline constexpr int kOldestRunSchemaVersion = 2;     // oldest version that can be read and resumed
inline constexpr int kRunApplicationId = 0x61676f6e;  // PRAGMA application_id: "agon"

inline constexpr const char* kRunSchema = R"sql(
CREATE TABLE run (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  config TEXT NOT NULL,
  started TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  finished TEXT,
  seconds REAL NOT NULL DEFAULT 0,
  summary TEXT
) STRICT;
CREATE TABLE tasks (
  task_index INTEGER PRIMARY KEY,
  task_id TEXT NOT NULL,
  level INTEGER NOT NULL,
  kind TEXT NOT NULL,
  prompt TEXT NOT NULL,
  gold TEXT NOT NULL
) STRICT;
CREATE TABLE episodes (
  id INTEGER PRIMARY KEY,
  task_index INTEGER NOT NULL REFERENCES tasks,
  sample INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
  failure TEXT NOT NULL,
  reward REAL NOT NULL,
  success INTEGER NOT NULL,
  truncated INTEGER NOT NULL,
  answer TEXT,
  score REAL,
  seconds REAL NOT NULL,
  UNIQUE (task_index, sample)
) STRICT;
CREATE TABLE turns (
  episode_id INTEGER NOT NULL REFERENCES episodes,
  turn INTEGER NOT NULL,
  observation TEXT NOT NULL,
  text TEXT NOT NULL,
  token_ids BLOB NOT NULL,
  logprobs BLOB NOT NULL,
  finish_reason TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  reward REAL NOT NULL,
  reward_components TEXT NOT NULL,
  info TEXT NOT NULL,
  PRIMARY KEY (episode_id, turn)
) STRICT;
CREATE TABLE images (
  hash TEXT PRIMARY KEY,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  png BLOB NOT NULL
) STRICT;
)sql";

// Added by version 3: training.
inline constexpr const char* kTrainingSchema = R"sql(
ALTER TABLE episodes ADD COLUMN step INTEGER;
CREATE TABLE token_credit (
  episode_id INTEGER NOT NULL REFERENCES episodes,
  turn INTEGER NOT NULL,
  token_bytes BLOB NOT NULL,
  advantage BLOB NOT NULL,
  weight BLOB NOT NULL,
  kl BLOB NOT NULL,
  PRIMARY KEY (episode_id, turn)
) STRICT;
CREATE TABLE metrics (
  step INTEGER NOT NULL,
  name TEXT NOT NULL,
  value REAL,
  PRIMARY KEY (step, name)
) STRICT, WITHOUT ROWID;
)sql";

// Changed by version 4: a training run may play a task again in a later step.
inline constexpr const char* kStepKeySchema = R"sql(
CREATE TABLE episodes_by_step (
  id INTEGER PRIMARY KEY,
  task_index INTEGER NOT NULL REFERENCES tasks,
  sample INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('done', 'failed')),
  failure TEXT NOT NULL,
  reward REAL NOT NULL,
  success INTEGER NOT NULL,
  truncated INTEGER NOT NULL,
  answer TEXT,
  score REAL,
  seconds REAL NOT NULL,
  step INTEGER
) STRICT;
INSERT INTO episodes_by_step SELECT id, task_index, sample, status, failure, reward, success, truncated, answer, score,
  seconds, step FROM episodes;
DROP TABLE episodes;
ALTER TABLE episodes_by_step RENAME TO episodes;
CREATE UNIQUE INDEX episode_key ON episodes (task_index, sample, IFNULL(step, -1));
)sql";

// Added by version 5: searches. The two views are for people.
inline constexpr const char* kSearchSchema = R"sql(
CREATE TABLE journal (
  task_index INTEGER NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (task_index, number)
) STRICT, WITHOUT ROWID;
CREATE VIEW search_steps AS SELECT task_index, number, json_extract(step.value, '$.node') AS node,
  json_extract(step.value, '$.parent') AS parent, json_extract(step.value, '$.text') AS text,
  json_array_length(step.value, '$.ids') AS tokens
  FROM journal, json_each(body, '$.steps') AS step WHERE kind = 'write';
CREATE VIEW search_verdicts AS SELECT task_index, number, json_extract(verdict.value, '$.node') AS node,
  json_extract(verdict.value, '$.judgement') AS judgement, json_extract(verdict.value, '$.probability') AS probability,
  json_extract(verdict.value, '$.critique') AS critique, json_extract(verdict.value, '$.tokens') AS tokens
  FROM journal, json_each(body, '$.verdicts') AS verdict WHERE kind = 'judge';
)sql";

// Throws Error unless the values of the two pragmas belong to a schema that this program knows.
void check_run_schema(const std::filesystem::path& database, int application_id, int version);

}  // namespace agon::record
