-- Totals of each kind of task, the lock of the kind on servers.
CREATE TABLE retry_kinds (
    kind          TEXT    NOT NULL PRIMARY KEY,
    open_tasks    INTEGER NOT NULL DEFAULT 0,
    open_bytes    INTEGER NOT NULL DEFAULT 0,
    failed_tasks  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE retry_tasks (
    -- Never used twice.
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    kind         TEXT    NOT NULL,
    task_key     TEXT    NOT NULL,
    task_group   TEXT,
    payload      BLOB    NOT NULL,
    -- Index of the next segment, the result of the segment before, and the failed attempts of the segment.
    segment      INTEGER NOT NULL DEFAULT 0,
    former       BLOB    NOT NULL DEFAULT x'',
    attempts     INTEGER NOT NULL DEFAULT 0,
    -- When the next attempt is due.
    due_ms       INTEGER NOT NULL,
    -- From when the task can be leased: when due, or at the end of the lease. NULL while an older task of the
    -- group is open, and for a failed task.
    ready_ms     INTEGER,
    is_leased    INTEGER NOT NULL,
    lease_number INTEGER NOT NULL,
    created_ms   INTEGER NOT NULL,
    -- When submitted, or replayed.
    opened_ms    INTEGER NOT NULL,
    last_error   TEXT    NOT NULL DEFAULT '',
    failed_ms    INTEGER
) STRICT;
CREATE UNIQUE INDEX retry_tasks_by_key ON retry_tasks (kind, task_key);
CREATE INDEX retry_tasks_ready ON retry_tasks (kind, ready_ms, id) WHERE ready_ms IS NOT NULL;
CREATE INDEX retry_tasks_open ON retry_tasks (kind, id) WHERE failed_ms IS NULL;
CREATE INDEX retry_tasks_by_group ON retry_tasks (kind, task_group, id) WHERE task_group IS NOT NULL AND failed_ms IS NULL;
CREATE INDEX retry_tasks_failed ON retry_tasks (failed_ms, id) WHERE failed_ms IS NOT NULL;
CREATE INDEX retry_tasks_failed_of_kind ON retry_tasks (kind, failed_ms, id) WHERE failed_ms IS NOT NULL;
