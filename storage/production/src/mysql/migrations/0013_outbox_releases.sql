-- Units that are to be given back to the sales in Redis, written by the transaction that closes their order.
CREATE TABLE IF NOT EXISTS outbox_releases (
    number     BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    order_id   BIGINT UNSIGNED NOT NULL,
    voucher_id BIGINT UNSIGNED NOT NULL,
    user_id    BIGINT UNSIGNED NOT NULL,
    UNIQUE KEY outbox_releases_by_order (order_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
