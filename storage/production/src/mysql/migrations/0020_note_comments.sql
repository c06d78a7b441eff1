CREATE TABLE IF NOT EXISTS note_comments (
    id             BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT PRIMARY KEY,
    note_id        BIGINT UNSIGNED  NOT NULL,
    user_id        BIGINT UNSIGNED  NOT NULL,
    -- The comment it stands below, and the one it answers. 0 = none.
    parent_id      BIGINT UNSIGNED  NOT NULL,
    answer_id      BIGINT UNSIGNED  NOT NULL,
    content        MEDIUMTEXT       NOT NULL,
    imported_likes BIGINT UNSIGNED  NOT NULL DEFAULT 0,
    -- 0 to be seen, 1 reported, 2 hidden.
    status         TINYINT UNSIGNED NOT NULL DEFAULT 0,
    created_ms     BIGINT           NOT NULL,
    -- InnoDB adds the id: comments of a note are listed from it.
    KEY note_comments_by_note (note_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
