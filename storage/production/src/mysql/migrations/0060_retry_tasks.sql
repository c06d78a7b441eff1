CREATE TABLE IF NOT EXISTS retry_tasks (
    id           BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT,
    kind         VARBINARY(32)    NOT NULL,
    task_key     VARBINARY(128)   NOT NULL,
    task_group   VARBINARY(128)   NULL,
    payload      MEDIUMBLOB       NOT NULL,
    -- Index of the next segment, the result of the segment before, and the failed attempts of the segment.
    segment      INT UNSIGNED     NOT NULL DEFAULT 0,
    former       MEDIUMBLOB       NOT NULL,
    attempts     INT UNSIGNED     NOT NULL DEFAULT 0,
    -- When the next attempt is due.
    due_ms       BIGINT           NOT NULL,
    -- From when the task can be leased: when due, or at the end of the lease. NULL while an older task of the
    -- group is open, and for a failed task.
    ready_ms     BIGINT           NULL,
    is_leased    TINYINT UNSIGNED NOT NULL,
    lease_number BIGINT UNSIGNED  NOT NULL,
    created_ms   BIGINT           NOT NULL,
    -- When submitted, or replayed.
    opened_ms    BIGINT           NOT NULL,
    last_error   TEXT             NOT NULL,
    failed_ms    BIGINT           NULL,
    PRIMARY KEY (id),
    UNIQUE KEY retry_tasks_by_key (kind, task_key),
    KEY retry_tasks_ready (kind, ready_ms, id),
    KEY retry_tasks_by_group (kind, task_group, failed_ms, id),
    KEY retry_tasks_failed (failed_ms, id),
    KEY retry_tasks_failed_of_kind (kind, failed_ms, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
