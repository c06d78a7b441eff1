-- Instances that take claims: up to which epochs each has settled what it took before.
CREATE TABLE IF NOT EXISTS order_instances (
    instance   VARBINARY(64)   NOT NULL PRIMARY KEY,
    generation BIGINT UNSIGNED NOT NULL,
    seen_ms    BIGINT          NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
