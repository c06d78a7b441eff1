-- What a sale does with attempts that look automated: 1 observe, 2 challenge, 3 refuse; NULL = nothing is judged.
ALTER TABLE sales ADD COLUMN judgement INTEGER;

-- The decision log: attempts to claim in judged sales.
CREATE TABLE attempts (
    -- Ascending in the order of storing.
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms      INTEGER NOT NULL,
    voucher_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    -- Keyed hashes; NULL if unknown.
    address    INTEGER,
    device     INTEGER,
    outcome    INTEGER NOT NULL,
    score      INTEGER NOT NULL,
    -- JSON object of values by name.
    signals    TEXT    NOT NULL
) STRICT;

CREATE INDEX attempts_sale ON attempts (voucher_id, number);
CREATE INDEX attempts_user ON attempts (user_id, number);
