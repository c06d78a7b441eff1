-- The decision log: attempts to claim in judged sales.
CREATE TABLE IF NOT EXISTS attempts (
    -- Ascending in the order of storing.
    number     BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT,
    at_ms      BIGINT           NOT NULL,
    voucher_id BIGINT UNSIGNED  NOT NULL,
    user_id    BIGINT UNSIGNED  NOT NULL,
    -- Keyed hashes. NULL if unknown.
    address    BIGINT UNSIGNED,
    device     BIGINT UNSIGNED,
    outcome    TINYINT UNSIGNED NOT NULL,
    score      INT UNSIGNED     NOT NULL,
    -- JSON object of values by name.
    signals    TEXT             NOT NULL,
    PRIMARY KEY (number),
    KEY attempts_sale (voucher_id, number),
    KEY attempts_user (user_id, number)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
