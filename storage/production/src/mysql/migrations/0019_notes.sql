CREATE TABLE IF NOT EXISTS notes (
    id                BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    shop_id           BIGINT UNSIGNED NOT NULL,
    user_id           BIGINT UNSIGNED NOT NULL,
    title             TEXT            NOT NULL,
    images            TEXT            NOT NULL,
    content           MEDIUMTEXT      NOT NULL,
    -- Counts that a note came with from elsewhere: what is done here is added to them.
    imported_likes    BIGINT UNSIGNED NOT NULL DEFAULT 0,
    imported_comments BIGINT UNSIGNED NOT NULL DEFAULT 0,
    created_ms        BIGINT          NOT NULL,
    updated_ms        BIGINT          NOT NULL,
    KEY notes_by_user (user_id, created_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
