CREATE TABLE IF NOT EXISTS sales (
    voucher_id    BIGINT UNSIGNED  NOT NULL PRIMARY KEY,
    -- NULL = unlimited, in both.
    initial       BIGINT UNSIGNED,
    added         BIGINT           NOT NULL,
    stock         BIGINT UNSIGNED,
    begin_ms      BIGINT           NOT NULL,
    end_ms        BIGINT           NOT NULL,
    paused        TINYINT          NOT NULL,
    pay_within_ms BIGINT           NOT NULL,
    min_level     TINYINT UNSIGNED NOT NULL,
    created_ms    BIGINT           NOT NULL,
    -- The smallest and the largest id among its orders: its buyers are looked for between them, without an index by
    -- voucher.
    first_order   BIGINT UNSIGNED,
    last_order    BIGINT UNSIGNED
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
