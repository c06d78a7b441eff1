CREATE TABLE IF NOT EXISTS claim_gateways (
    -- Servers of others that may claim for users.
    id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name        VARCHAR(40)     NOT NULL,
    -- SHA-256.
    token_hash  VARBINARY(32)   NOT NULL,
    operator_id BIGINT UNSIGNED NOT NULL,
    -- Ids of vouchers with commas between.
    sales       VARCHAR(4096)   NOT NULL,
    created_ms  BIGINT          NOT NULL,
    expires_ms  BIGINT          NOT NULL,
    UNIQUE KEY claim_gateways_by_name (name),
    UNIQUE KEY claim_gateways_by_token (token_hash)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
