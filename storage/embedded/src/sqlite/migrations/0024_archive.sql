-- Archived days of ledgers. Their files are in archive/.

CREATE TABLE archived_days (
    ledger      TEXT    NOT NULL,
    -- Days since 1970-01-01, UTC.
    day         INTEGER NOT NULL,
    line_count  INTEGER NOT NULL,
    -- Of the file, and of the text inside.
    bytes       INTEGER NOT NULL,
    text_bytes  INTEGER NOT NULL,
    -- Of the file.
    sha256      BLOB    NOT NULL,
    archived_ms INTEGER NOT NULL,
    PRIMARY KEY (ledger, day)
) STRICT, WITHOUT ROWID;

-- Days that may have lines of a user. Written before the day is archived.
CREATE TABLE archived_users (
    user_id INTEGER NOT NULL,
    ledger  TEXT    NOT NULL,
    day     INTEGER NOT NULL,
    PRIMARY KEY (user_id, ledger, day)
) STRICT, WITHOUT ROWID;
