CREATE TABLE IF NOT EXISTS event_outbox (
    -- Events without a position, written by the transactions of the changes.
    number     BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT PRIMARY KEY,
    -- 0 at once, else when a delayed event gets its position.
    due_ms     BIGINT           NOT NULL,
    -- 1 order accepted, 2 payment due, 3 paid, 4 cancelled, 5 used, 6 refunded, 7 note, 8 review, 9 stock.
    kind       TINYINT UNSIGNED NOT NULL,
    -- Id of the order, note, review or voucher.
    subject_id BIGINT UNSIGNED  NOT NULL,
    body       VARCHAR(500)     NOT NULL,
    at_ms      BIGINT           NOT NULL,
    KEY event_outbox_by_due (due_ms, number)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
