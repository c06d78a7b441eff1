-- The last entry once more: what is cut off at the end is missed.
CREATE TABLE IF NOT EXISTS audit_head (
    -- There is one.
    one    TINYINT         NOT NULL PRIMARY KEY,
    number BIGINT UNSIGNED NOT NULL,
    hash   VARBINARY(255)  NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
