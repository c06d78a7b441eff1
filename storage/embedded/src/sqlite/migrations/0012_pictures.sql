-- What people upload. A row is written whole when any of it changes: so a picture's bytes are in a row of their own.

CREATE TABLE pictures (
    id         INTEGER PRIMARY KEY,
    -- As /blogs/… tells it, without the /imgs before it.
    name       TEXT    NOT NULL UNIQUE,
    owner_id   INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    -- When it was last known to be wanted.
    touched_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX pictures_by_owner ON pictures (owner_id, bytes);
CREATE INDEX pictures_by_touch ON pictures (touched_ms);

CREATE TABLE picture_contents (
    picture_id INTEGER PRIMARY KEY,
    content    BLOB    NOT NULL
) STRICT;

-- By which a picture that no user shows is known.
CREATE INDEX users_by_icon ON users (icon) WHERE icon <> '';
