CREATE TABLE IF NOT EXISTS vote_lines (
    -- The ledger of votes: append-only, and numbered per review without gaps.
    review_id BIGINT UNSIGNED  NOT NULL,
    number    BIGINT           NOT NULL,
    -- 0 where the votes were closed.
    user_id   BIGINT UNSIGNED  NOT NULL,
    -- 0 taken back, 1 voted, 2 closed.
    cause     TINYINT UNSIGNED NOT NULL,
    amount    BIGINT           NOT NULL,
    sum_after BIGINT           NOT NULL,
    at_ms     BIGINT           NOT NULL,
    PRIMARY KEY (review_id, number),
    KEY vote_lines_by_user (user_id, review_id, number),
    KEY vote_lines_in_time (at_ms, review_id, number)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
