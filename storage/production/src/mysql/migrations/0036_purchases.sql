-- What people bought over the counter under a name, which is not bought twice.
CREATE TABLE IF NOT EXISTS purchases (
    user_id    BIGINT UNSIGNED NOT NULL,
    voucher_id BIGINT UNSIGNED NOT NULL,
    -- Bytes: as text, a name with a space behind it would be the same name.
    request    VARBINARY(1020) NOT NULL,
    order_id   BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (user_id, voucher_id, request)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
