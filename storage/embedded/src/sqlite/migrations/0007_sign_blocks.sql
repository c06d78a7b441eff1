-- Who signed in, a bit a user: a year of a million users is 46 MB here and read at start within a second, where it would be
-- gigabytes as rows of sign_ins. Those are how sign-ins move in, and are packed at once.

CREATE TABLE sign_blocks (
    -- 2026-11-21, on the mall's wall.
    day     TEXT    NOT NULL,
    -- The users from 4096 × block on.
    block   INTEGER NOT NULL,
    -- Their bits, the lowest of each byte first; those beyond the end are 0.
    signed  BLOB    NOT NULL,
    made_up BLOB    NOT NULL,
    PRIMARY KEY (day, block)
) STRICT, WITHOUT ROWID;
