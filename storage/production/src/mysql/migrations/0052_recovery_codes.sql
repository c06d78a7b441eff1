CREATE TABLE IF NOT EXISTS recovery_codes (
    -- Unused recovery codes of second factors, as SHA-256.
    user_id BIGINT UNSIGNED NOT NULL,
    hash    VARBINARY(32)   NOT NULL,
    PRIMARY KEY (user_id, hash)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
