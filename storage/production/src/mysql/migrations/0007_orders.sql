CREATE TABLE IF NOT EXISTS orders (
    id          BIGINT UNSIGNED  NOT NULL PRIMARY KEY,
    user_id     BIGINT UNSIGNED  NOT NULL,
    voucher_id  BIGINT UNSIGNED  NOT NULL,
    -- Whether the voucher is a sale.
    of_sale     TINYINT          NOT NULL,
    status      TINYINT          NOT NULL,
    pay_value   BIGINT           NOT NULL,
    pay_type    TINYINT UNSIGNED NOT NULL,
    created_ms  BIGINT           NOT NULL,
    deadline_ms BIGINT           NOT NULL,
    paid_ms     BIGINT,
    used_ms     BIGINT,
    refunded_ms BIGINT,
    -- 1 for a live order of a sale, else NULL, of which a unique index takes any number. Stored: an index over a virtual
    -- column would have to be computed again whenever old versions of rows are cleared away.
    is_live     TINYINT GENERATED ALWAYS AS
                  (CASE WHEN of_sale = 1 AND status NOT IN (4, 6) THEN 1 ELSE NULL END) STORED,
    -- It allows one live order a sale and user, finds it, and lists a user's orders.
    UNIQUE KEY orders_by_user (user_id, voucher_id, is_live),
    -- InnoDB adds the id: unpaid orders are listed from it.
    KEY orders_by_status (status)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
