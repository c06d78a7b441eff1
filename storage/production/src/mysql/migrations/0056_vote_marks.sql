CREATE TABLE IF NOT EXISTS vote_marks (
    -- By which voters see their own votes for a while.
    user_id   BIGINT UNSIGNED NOT NULL,
    review_id BIGINT UNSIGNED NOT NULL,
    at_ms     BIGINT          NOT NULL,
    PRIMARY KEY (user_id, review_id),
    KEY vote_marks_by_review (review_id),
    KEY vote_marks_in_time (at_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
