-- How many came, and how often: a row for each day and each thing that was visited on it.

CREATE TABLE visits (
    -- 2026-11-21, on the mall's wall.
    day     TEXT    NOT NULL,
    -- 0 is the mall as a whole.
    shop_id INTEGER NOT NULL,
    views   INTEGER NOT NULL,
    -- The visitors: HyperLogLog++, behind a byte that says which form it has.
    sketch  BLOB    NOT NULL,
    PRIMARY KEY (day, shop_id)
) STRICT;
