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
    UNIQUE KEY dead_letters_by_claim (order_id, user_id, voucher_id),
    KEY dead_letters_by_voucher (voucher_id, user_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
