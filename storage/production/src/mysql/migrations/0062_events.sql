CREATE TABLE IF NOT EXISTS events (
    -- Events with a position, from 1 without gaps.
    position   BIGINT UNSIGNED  NOT NULL PRIMARY KEY,
    kind       TINYINT UNSIGNED NOT NULL,
    subject_id BIGINT UNSIGNED  NOT NULL,
    body       VARCHAR(500)     NOT NULL,
    at_ms      BIGINT           NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
