-- Cash sessions of tills.
CREATE TABLE IF NOT EXISTS cash_sessions (
    id               BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    till             VARCHAR(20)     NOT NULL,
    -- The till while the session is open, NULL afterwards.
    open_till        VARCHAR(20),
    opened_ms        BIGINT          NOT NULL,
    opened_by        BIGINT UNSIGNED NOT NULL,
    float_cents      BIGINT          NOT NULL,
    sales            BIGINT          NOT NULL DEFAULT 0,
    sale_count       BIGINT          NOT NULL DEFAULT 0,
    refunds          BIGINT          NOT NULL DEFAULT 0,
    refund_count     BIGINT          NOT NULL DEFAULT 0,
    paid_in          BIGINT          NOT NULL DEFAULT 0,
    paid_in_count    BIGINT          NOT NULL DEFAULT 0,
    paid_out         BIGINT          NOT NULL DEFAULT 0,
    paid_out_count   BIGINT          NOT NULL DEFAULT 0,
    first_payment_ms BIGINT,
    last_payment_ms  BIGINT,
    -- Hash of the last entry.
    head             VARBINARY(32)   NOT NULL,
    UNIQUE KEY cash_sessions_open (open_till)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
