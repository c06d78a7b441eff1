-- What an operator decides about dead letters, and changes of a sale's units that are not to be done twice.

-- How often the record was asked to take the claim.
ALTER TABLE dead_letters ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1;
UPDATE dead_letters SET attempts = 5 WHERE reason = 'REFUSED';
-- 0 open, 1 replayed, 2 voided.
ALTER TABLE dead_letters ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dead_letters ADD COLUMN closed_ms INTEGER;

CREATE TABLE stock_changes (
    voucher_id INTEGER NOT NULL,
    request    TEXT    NOT NULL,
    asked      INTEGER NOT NULL,
    applied    INTEGER NOT NULL,
    at_ms      INTEGER NOT NULL,
    PRIMARY KEY (voucher_id, request)
) STRICT, WITHOUT ROWID;
