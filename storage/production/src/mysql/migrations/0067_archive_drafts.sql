CREATE TABLE IF NOT EXISTS archive_drafts (
    -- Files that a process is writing, or left unfinished.
    id       BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    begun_ms BIGINT          NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
