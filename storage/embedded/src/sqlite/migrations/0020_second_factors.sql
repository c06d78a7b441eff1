-- Second factors. A TOTP secret is computed from its seed and a key of the mall.
CREATE TABLE second_factors (
    user_id      INTEGER PRIMARY KEY,
    -- Of the factor in force; NULL without one.
    seed         BLOB,
    since_ms     INTEGER,
    -- The latest step of 30 s whose code was accepted.
    last_step    INTEGER NOT NULL,
    -- Of the enrolment that waits for its first code; NULL without one.
    pending_seed BLOB,
    pending_ms   INTEGER
) STRICT;

-- Unused recovery codes, as SHA-256.
CREATE TABLE recovery_codes (
    user_id INTEGER NOT NULL,
    hash    BLOB    NOT NULL,
    PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;
