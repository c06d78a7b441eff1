CREATE TABLE IF NOT EXISTS dead_letters (
    -- Not the order's id: of two claims with one id, each may end here.
    entry      BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    order_id   BIGINT UNSIGNED NOT NULL,
    user_id    BIGINT UNSIGNED NOT NULL,
    voucher_id BIGINT UNSIGNED NOT NULL,
    claimed_ms BIGINT          NOT NULL,
    reason     VARCHAR(32)     NOT NULL,
    detail     MEDIUMTEXT      NOT NULL,
    holds_unit TINYINT         NOT NULL,
    buried_ms  BIGINT          NOT NULL,
    -- How often the record was asked to take the claim.
    attempts   INT UNSIGNED    NOT NULL,
    -- 0 open, 1 replayed, 2 voided.
    state      TINYINT         NOT NULL DEFAULT 0,
    closed_ms  BIGINT,
    UNIQUE KEY dead_letters_by_claim (order_id, user_id, voucher_id),
    KEY dead_letters_by_voucher (voucher_id, user_id),
    -- InnoDB adds the entry: letters of a state are listed from it.
    KEY dead_letters_by_state (state)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
