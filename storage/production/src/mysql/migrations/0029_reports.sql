CREATE TABLE IF NOT EXISTS reports (
    id         BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT PRIMARY KEY,
    -- 0 a note, 1 a comment.
    kind       TINYINT UNSIGNED NOT NULL,
    target_id  BIGINT UNSIGNED  NOT NULL,
    user_id    BIGINT UNSIGNED  NOT NULL,
    reason     VARCHAR(255)     NOT NULL,
    created_ms BIGINT           NOT NULL,
    -- When somebody decided who gets to see it.
    decided_ms BIGINT,
    UNIQUE KEY reports_by_target (kind, target_id, user_id),
    KEY reports_open (decided_ms, kind, target_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
