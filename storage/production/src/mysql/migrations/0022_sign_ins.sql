CREATE TABLE IF NOT EXISTS sign_ins (
    user_id BIGINT UNSIGNED NOT NULL,
    -- 2026-11-21, on the mall's wall. Bytes: as text, a day with a space behind it would be the same day.
    day     VARBINARY(32)   NOT NULL,
    made_up TINYINT         NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
