-- Timetables of sales: units that enter a sale at scheduled instants.
CREATE TABLE IF NOT EXISTS sale_waves (
    voucher_id  BIGINT UNSIGNED NOT NULL,
    -- Ascending in time within a sale.
    number      INT UNSIGNED    NOT NULL,
    at_ms       BIGINT          NOT NULL,
    units       BIGINT UNSIGNED NOT NULL,
    -- NULL for a wave to come.
    released_ms BIGINT,
    PRIMARY KEY (voucher_id, number),
    KEY sale_waves_to_come (released_ms, at_ms, voucher_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
