CREATE TABLE IF NOT EXISTS payments (
    id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    order_id   BIGINT UNSIGNED NOT NULL,
    amount     BIGINT          NOT NULL,
    -- 0 started, 1 captured, 2 refunded, 3 failed.
    state      TINYINT         NOT NULL,
    started_ms BIGINT          NOT NULL,
    updated_ms BIGINT          NOT NULL,
    -- Started, or captured on an order that is cancelled or refunding.
    needs_look TINYINT         NOT NULL,
    -- 1 while it is started or captured, else NULL.
    is_open    TINYINT GENERATED ALWAYS AS (CASE WHEN state IN (0, 1) THEN 1 ELSE NULL END) STORED,
    -- It allows one open payment an order, and lists an order's payments.
    UNIQUE KEY payments_by_order (order_id, is_open),
    KEY payments_to_look_at (needs_look, started_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
