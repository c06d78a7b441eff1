-- The ledger of credits: append-only, and numbered per user without gaps.
CREATE TABLE IF NOT EXISTS credit_lines (
    user_id   BIGINT UNSIGNED NOT NULL,
    number    BIGINT          NOT NULL,
    -- 0 brought along, 1 sign-in, 2 order, 3 refund.
    kind      TINYINT         NOT NULL,
    -- The day of a sign-in as 20261121, or the id of an order.
    reference BIGINT UNSIGNED NOT NULL,
    amount    BIGINT          NOT NULL,
    sum_after BIGINT          NOT NULL,
    at_ms     BIGINT          NOT NULL,
    PRIMARY KEY (user_id, number),
    -- A cause counts once.
    UNIQUE KEY credit_lines_by_cause (user_id, kind, reference)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
