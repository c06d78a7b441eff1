-- Events without a position, written by the transactions of the changes.
CREATE TABLE event_outbox (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 0 at once; else when a delayed event gets its position.
    due_ms     INTEGER NOT NULL,
    -- 1 order accepted, 2 payment due, 3 paid, 4 cancelled, 5 used, 6 refunded, 7 note, 8 review, 9 stock.
    kind       INTEGER NOT NULL,
    -- Id of the order, note, review or voucher.
    subject_id INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    at_ms      INTEGER NOT NULL
) STRICT;
CREATE INDEX event_outbox_by_due ON event_outbox (due_ms, number);

-- Events with a position, from 1 without gaps.
CREATE TABLE events (
    position   INTEGER PRIMARY KEY,
    kind       INTEGER NOT NULL,
    subject_id INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    at_ms      INTEGER NOT NULL
) STRICT;

-- One row: the newest position given, and the newest position removed.
CREATE TABLE event_ends (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    head   INTEGER NOT NULL,
    pruned INTEGER NOT NULL
) STRICT;
INSERT INTO event_ends (id, head, pruned) VALUES (1, 0, 0);

-- Events are written while there is a row.
CREATE TABLE event_subscribers (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL UNIQUE,
    -- log, webhook or stream.
    target     TEXT    NOT NULL,
    url        TEXT    NOT NULL,
    secret     TEXT    NOT NULL,
    -- Names of kinds with commas between; empty for all.
    kinds      TEXT    NOT NULL,
    -- Position of the last event handed over.
    cursor     INTEGER NOT NULL,
    is_paused  INTEGER NOT NULL DEFAULT 0,
    lost       INTEGER NOT NULL DEFAULT 0,
    error      TEXT,
    error_ms   INTEGER,
    created_ms INTEGER NOT NULL
) STRICT;
