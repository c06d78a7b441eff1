-- Servers of others that may claim for users.
CREATE TABLE claim_gateways (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    name        TEXT    NOT NULL UNIQUE,
    -- SHA-256.
    token_hash  BLOB    NOT NULL UNIQUE,
    operator_id INTEGER NOT NULL,
    -- Ids of vouchers with commas between.
    sales       TEXT    NOT NULL,
    created_ms  INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL
) STRICT;

CREATE TABLE claim_batches (
    gateway_id  INTEGER NOT NULL,
    -- Name given by the gateway.
    request     TEXT    NOT NULL,
    -- SHA-256.
    claims_hash BLOB    NOT NULL,
    created_ms  INTEGER NOT NULL,
    revision    INTEGER NOT NULL,
    outcomes    TEXT    NOT NULL,
    is_finished INTEGER NOT NULL,
    PRIMARY KEY (gateway_id, request)
) STRICT;
CREATE INDEX claim_batches_by_time ON claim_batches (created_ms);
