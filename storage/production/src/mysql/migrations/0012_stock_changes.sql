-- What operators did to a sale's units under a name, which is not done twice.
CREATE TABLE IF NOT EXISTS stock_changes (
    voucher_id BIGINT UNSIGNED NOT NULL,
    -- Bytes: as text, a name with a space behind it would be the same name.
    request    VARBINARY(1020) NOT NULL,
    asked      BIGINT          NOT NULL,
    applied    BIGINT          NOT NULL,
    at_ms      BIGINT          NOT NULL,
    PRIMARY KEY (voucher_id, request)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
