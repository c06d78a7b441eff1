-- The second lock of a sale begins with the voucher, so that orders of a running sale touch few pages. The
-- orders of a user are found by sorted runs, which cost sequential writes alone.
DROP INDEX orders_by_user;
CREATE UNIQUE INDEX orders_by_voucher ON orders (voucher_id, user_id, slot);

-- Entries of the newest orders in the order of insertion, one row per transaction.
CREATE TABLE order_tail (
    seq     INTEGER PRIMARY KEY,
    -- Entries of this and all earlier rows.
    total   INTEGER NOT NULL,
    -- Sorted entries of 16 bytes.
    entries BLOB    NOT NULL
) STRICT;

-- Sorted runs of entries.
CREATE TABLE order_runs (
    run         INTEGER PRIMARY KEY,
    -- A run of level n was merged n times.
    level       INTEGER NOT NULL,
    -- The run into which the entries of this run are being moved.
    merged_into INTEGER
) STRICT;

-- Parts of runs, a page each.
CREATE TABLE order_chunks (
    -- The run times 2^40, plus the leading 40 bits of the first entry.
    place   INTEGER PRIMARY KEY,
    entries BLOB    NOT NULL
) STRICT;
