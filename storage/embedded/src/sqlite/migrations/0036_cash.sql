-- Cash sessions of tills, their entries, and Z reports.
CREATE TABLE cash_sessions (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    till             TEXT    NOT NULL,
    -- The till while the session is open, NULL afterwards.
    open_till        TEXT    UNIQUE,
    opened_ms        INTEGER NOT NULL,
    opened_by        INTEGER NOT NULL,
    float_cents      INTEGER NOT NULL,
    sales            INTEGER NOT NULL DEFAULT 0,
    sale_count       INTEGER NOT NULL DEFAULT 0,
    refunds          INTEGER NOT NULL DEFAULT 0,
    refund_count     INTEGER NOT NULL DEFAULT 0,
    paid_in          INTEGER NOT NULL DEFAULT 0,
    paid_in_count    INTEGER NOT NULL DEFAULT 0,
    paid_out         INTEGER NOT NULL DEFAULT 0,
    paid_out_count   INTEGER NOT NULL DEFAULT 0,
    first_payment_ms INTEGER,
    last_payment_ms  INTEGER,
    -- Hash of the last entry.
    head             BLOB    NOT NULL
) STRICT;

CREATE TABLE cash_entries (
    session_id INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    -- 1 sale, 2 refund, 3 paid in, 4 paid out.
    kind       INTEGER NOT NULL,
    amount     INTEGER NOT NULL,
    order_id   INTEGER,
    reason     TEXT    NOT NULL,
    user_id    INTEGER NOT NULL,
    at_ms      INTEGER NOT NULL,
    request    TEXT,
    PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX cash_entries_by_order ON cash_entries (order_id, kind) WHERE order_id IS NOT NULL;
CREATE UNIQUE INDEX cash_entries_by_request ON cash_entries (session_id, request) WHERE request IS NOT NULL;

CREATE TABLE cash_reports (
    number     INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL UNIQUE,
    -- Idempotency key of the call that closed the session.
    request    TEXT    NOT NULL,
    -- The report as JSON, and its SHA-256.
    body       TEXT    NOT NULL,
    digest     BLOB    NOT NULL
) STRICT;

CREATE TRIGGER cash_entries_are_not_changed BEFORE UPDATE ON cash_entries
    BEGIN SELECT RAISE(ABORT, 'entries of cash sessions stay'); END;
CREATE TRIGGER cash_entries_are_not_removed BEFORE DELETE ON cash_entries
    BEGIN SELECT RAISE(ABORT, 'entries of cash sessions stay'); END;
CREATE TRIGGER cash_reports_are_not_changed BEFORE UPDATE ON cash_reports
    BEGIN SELECT RAISE(ABORT, 'Z reports stay'); END;
CREATE TRIGGER cash_reports_are_not_removed BEFORE DELETE ON cash_reports
    BEGIN SELECT RAISE(ABORT, 'Z reports stay'); END;
