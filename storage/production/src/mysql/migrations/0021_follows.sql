CREATE TABLE IF NOT EXISTS follows (
    user_id     BIGINT UNSIGNED NOT NULL,
    followee_id BIGINT UNSIGNED NOT NULL,
    created_ms  BIGINT          NOT NULL,
    PRIMARY KEY (user_id, followee_id),
    -- InnoDB adds the follower: who follows somebody is listed from it.
    KEY follows_by_followee (followee_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
