-- What operators did.
CREATE TABLE IF NOT EXISTS audit (
    number  BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    at_ms   BIGINT          NOT NULL,
    -- NULL = the command line.
    user_id BIGINT UNSIGNED,
    action  MEDIUMTEXT      NOT NULL,
    subject MEDIUMTEXT      NOT NULL,
    detail  MEDIUMTEXT      NOT NULL,
    hash    VARBINARY(255)  NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
