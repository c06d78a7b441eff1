CREATE TABLE IF NOT EXISTS shop_types (
    id         BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    name       TEXT            NOT NULL,
    icon       TEXT            NOT NULL,
    sort       BIGINT          NOT NULL,
    updated_ms BIGINT          NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
