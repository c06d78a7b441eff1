-- Users who wait for units of sold-out sales.
CREATE TABLE IF NOT EXISTS waiting_entries (
    -- Ascending in time of joining.
    number     BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT,
    voucher_id BIGINT UNSIGNED  NOT NULL,
    user_id    BIGINT UNSIGNED  NOT NULL,
    -- 0 waiting, 1 offered, 2 promoted, 3 left, 4 expired, 5 dropped.
    state      TINYINT UNSIGNED NOT NULL,
    joined_ms  BIGINT           NOT NULL,
    changed_ms BIGINT           NOT NULL,
    -- Order of the last offer. NULL before the first.
    order_id   BIGINT UNSIGNED,
    PRIMARY KEY (number),
    UNIQUE KEY waiting_entries_once (voucher_id, user_id),
    KEY waiting_entries_open (voucher_id, state, number),
    KEY waiting_entries_user (user_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
