CREATE TABLE IF NOT EXISTS archived_users (
    -- Days that may have lines of a user. Written before the day is archived.
    user_id BIGINT UNSIGNED NOT NULL,
    ledger  VARCHAR(32)     NOT NULL,
    day     INT             NOT NULL,
    PRIMARY KEY (user_id, ledger, day)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
