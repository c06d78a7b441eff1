CREATE TABLE IF NOT EXISTS second_factors (
    -- A TOTP secret is computed from its seed and a key of the mall.
    user_id      BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    -- Of the factor in force. NULL without one.
    seed         VARBINARY(16),
    since_ms     BIGINT,
    -- The latest step of 30 s whose code was accepted.
    last_step    BIGINT          NOT NULL,
    -- Of the enrolment that waits for its first code. NULL without one.
    pending_seed VARBINARY(16),
    pending_ms   BIGINT
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
