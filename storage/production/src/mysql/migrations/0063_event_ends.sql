CREATE TABLE IF NOT EXISTS event_ends (
    -- One row, the lock of positions: the newest position given, and the newest position removed.
    id     TINYINT UNSIGNED NOT NULL PRIMARY KEY,
    head   BIGINT UNSIGNED  NOT NULL,
    pruned BIGINT UNSIGNED  NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
