CREATE TABLE IF NOT EXISTS user_info (
    user_id    BIGINT UNSIGNED  NOT NULL PRIMARY KEY,
    city       TEXT             NOT NULL,
    introduce  TEXT             NOT NULL,
    gender     TINYINT          NOT NULL,
    birthday   VARCHAR(32),
    credits    BIGINT           NOT NULL,
    level      TINYINT UNSIGNED NOT NULL,
    updated_ms BIGINT           NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
