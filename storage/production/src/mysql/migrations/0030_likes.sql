CREATE TABLE IF NOT EXISTS likes (
    -- 0 a note, 1 a comment.
    kind       TINYINT UNSIGNED NOT NULL,
    target_id BIGINT UNSIGNED  NOT NULL,
    user_id    BIGINT UNSIGNED  NOT NULL,
    liked_ms   BIGINT           NOT NULL,
    PRIMARY KEY (kind, target_id, user_id),
    KEY likes_in_time (kind, target_id, liked_ms, user_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
