CREATE TABLE IF NOT EXISTS shops (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name       TEXT            NOT NULL,
    type_id    BIGINT UNSIGNED NOT NULL,
    images     TEXT            NOT NULL,
    area       TEXT            NOT NULL,
    address    TEXT            NOT NULL,
    x          DOUBLE          NOT NULL,
    y          DOUBLE          NOT NULL,
    avg_price  BIGINT,
    open_hours TEXT            NOT NULL,
    sold       BIGINT          NOT NULL,
    comments   BIGINT          NOT NULL,
    score      BIGINT          NOT NULL,
    created_ms BIGINT          NOT NULL,
    updated_ms BIGINT          NOT NULL,
    KEY shops_by_type (type_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
