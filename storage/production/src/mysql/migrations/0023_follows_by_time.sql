ALTER TABLE follows
    -- Fans and followees are listed by time, a page at a time.
    DROP KEY follows_by_followee,
    ADD KEY follows_by_followee_in_time (followee_id, created_ms, user_id),
    ADD KEY follows_by_user_in_time (user_id, created_ms, followee_id);
