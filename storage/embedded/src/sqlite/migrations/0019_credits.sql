-- The ledger of credits: append-only, and numbered per user without gaps.
CREATE TABLE credit_lines (
    user_id   INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    -- 0 brought along, 1 sign-in, 2 order, 3 refund.
    kind      INTEGER NOT NULL,
    -- The day of a sign-in as 20261121; the id of an order.
    reference INTEGER NOT NULL,
    amount    INTEGER NOT NULL,
    sum_after INTEGER NOT NULL,
    at_ms     INTEGER NOT NULL,
    PRIMARY KEY (user_id, number)
) STRICT, WITHOUT ROWID;
-- A cause counts once.
CREATE UNIQUE INDEX credit_lines_by_cause ON credit_lines (user_id, kind, reference);

-- Set by an operator, in place of the imported level.
ALTER TABLE user_info ADD COLUMN set_level INTEGER;

-- What users had before the ledger.
INSERT INTO credit_lines (user_id, number, kind, reference, amount, sum_after, at_ms)
SELECT user_id, 1, 0, 0, credits, credits, updated_ms FROM user_info WHERE credits > 0;
