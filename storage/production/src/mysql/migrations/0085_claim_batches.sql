CREATE TABLE IF NOT EXISTS claim_batches (
    gateway_id  BIGINT UNSIGNED NOT NULL,
    -- Name given by the gateway. Binary: a comparison of text ignores trailing spaces.
    request     VARBINARY(256)  NOT NULL,
    -- SHA-256.
    claims_hash VARBINARY(32)   NOT NULL,
    created_ms  BIGINT          NOT NULL,
    revision    INT UNSIGNED    NOT NULL,
    outcomes    MEDIUMTEXT      NOT NULL,
    is_finished TINYINT         NOT NULL,
    PRIMARY KEY (gateway_id, request),
    KEY claim_batches_by_time (created_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
