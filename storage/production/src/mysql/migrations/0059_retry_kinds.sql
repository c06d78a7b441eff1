CREATE TABLE IF NOT EXISTS retry_kinds (
    -- Totals of each kind of task. The row is the lock of everything but leases and retries.
    kind         VARBINARY(32)   NOT NULL PRIMARY KEY,
    open_tasks   BIGINT UNSIGNED NOT NULL DEFAULT 0,
    open_bytes   BIGINT UNSIGNED NOT NULL DEFAULT 0,
    failed_tasks BIGINT UNSIGNED NOT NULL DEFAULT 0
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
