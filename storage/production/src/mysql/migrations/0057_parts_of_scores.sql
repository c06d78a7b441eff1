ALTER TABLE shops
    -- The parts of a shop's score and comments.
    ADD COLUMN imported_score    BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN imported_comments BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN review_count      BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN half_star_sum     BIGINT NOT NULL DEFAULT 0;
