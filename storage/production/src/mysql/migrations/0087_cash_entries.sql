-- Entries of cash sessions.
CREATE TABLE IF NOT EXISTS cash_entries (
    session_id BIGINT UNSIGNED NOT NULL,
    number     BIGINT UNSIGNED NOT NULL,
    -- 1 sale, 2 refund, 3 paid in, 4 paid out.
    kind       TINYINT         NOT NULL,
    amount     BIGINT          NOT NULL,
    order_id   BIGINT UNSIGNED,
    reason     VARCHAR(1000)   NOT NULL,
    user_id    BIGINT UNSIGNED NOT NULL,
    at_ms      BIGINT          NOT NULL,
    -- Binary: a comparison of text ignores trailing spaces.
    request    VARBINARY(256),
    PRIMARY KEY (session_id, number),
    UNIQUE KEY cash_entries_by_order (order_id, kind),
    UNIQUE KEY cash_entries_by_request (session_id, request)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
