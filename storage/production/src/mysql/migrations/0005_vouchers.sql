CREATE TABLE IF NOT EXISTS vouchers (
    id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    shop_id      BIGINT UNSIGNED NOT NULL,
    title        TEXT            NOT NULL,
    sub_title    TEXT            NOT NULL,
    rules        TEXT            NOT NULL,
    pay_value    BIGINT          NOT NULL,
    actual_value BIGINT          NOT NULL,
    status       TINYINT         NOT NULL,
    created_ms   BIGINT          NOT NULL,
    updated_ms   BIGINT          NOT NULL,
    KEY vouchers_by_shop (shop_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
