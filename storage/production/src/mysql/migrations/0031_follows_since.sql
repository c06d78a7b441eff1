ALTER TABLE follows
    -- From which note on a follow brings somebody's notes into a feed.
    ADD COLUMN since_ms BIGINT NOT NULL DEFAULT 0,
    ADD KEY follows_by_fan (followee_id, user_id);
