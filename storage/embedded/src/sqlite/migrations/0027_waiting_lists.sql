-- Waiting lists of sold-out sales.

-- Whether users wait for units, and the maximum number of users on the list; NULL without a list.
ALTER TABLE sales ADD COLUMN waiting INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sales ADD COLUMN waiting_max INTEGER;
CREATE INDEX sales_waited_for ON sales (voucher_id) WHERE waiting = 1;

CREATE TABLE waiting_entries (
    -- Ascending in time of joining.
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    voucher_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    -- 0 waiting, 1 offered, 2 promoted, 3 left, 4 expired, 5 dropped.
    state      INTEGER NOT NULL,
    joined_ms  INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    -- Order of the last offer; NULL before the first.
    order_id   INTEGER,
    UNIQUE (voucher_id, user_id)
) STRICT;

CREATE INDEX waiting_entries_open ON waiting_entries (voucher_id, number) WHERE state <= 1;
CREATE INDEX waiting_entries_user ON waiting_entries (user_id);
