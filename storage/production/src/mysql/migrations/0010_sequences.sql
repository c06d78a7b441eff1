CREATE TABLE IF NOT EXISTS sequences (
    name     VARCHAR(64)     NOT NULL,
    day      BIGINT UNSIGNED NOT NULL,
    -- Every number below may have been given out.
    reserved BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (name, day)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
