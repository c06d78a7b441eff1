-- What operators did, and whom they blocked.

ALTER TABLE users ADD COLUMN blocked_ms INTEGER;
ALTER TABLE users ADD COLUMN block_reason TEXT;
CREATE INDEX users_blocked ON users (id) WHERE blocked_ms IS NOT NULL;

CREATE TABLE audit (
    number  INTEGER PRIMARY KEY,
    at_ms   INTEGER NOT NULL,
    -- NULL = the command line.
    user_id INTEGER,
    action  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    detail  TEXT    NOT NULL,
    hash    BLOB    NOT NULL
) STRICT;
-- The last entry once more: what is cut off at the end is missed.
CREATE TABLE audit_head (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL,
    hash   BLOB    NOT NULL
) STRICT;

-- The second lock: whoever means to change the log has to break it first. OR REPLACE deletes without a trigger, so an
-- insert must not meet an entry either.
CREATE TRIGGER audit_is_not_replaced BEFORE INSERT ON audit WHEN NEW.number <= (SELECT MAX(number) FROM audit)
    BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
CREATE TRIGGER audit_is_not_shortened BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head
    BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
