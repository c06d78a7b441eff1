CREATE TABLE IF NOT EXISTS authors_with_many_fans (
    -- Whose notes are read from the record by their fans.
    user_id BIGINT UNSIGNED NOT NULL PRIMARY KEY
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
