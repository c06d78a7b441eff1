-- What people write, whom they follow, and the days they sign in.

CREATE TABLE notes (
    -- AUTOINCREMENT: an id is never given again.
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    shop_id           INTEGER NOT NULL,
    user_id           INTEGER NOT NULL,
    title             TEXT    NOT NULL,
    images            TEXT    NOT NULL,
    content           TEXT    NOT NULL,
    -- Counts that a note came with from elsewhere: what is done here is added to them.
    imported_likes    INTEGER NOT NULL DEFAULT 0,
    imported_comments INTEGER NOT NULL DEFAULT 0,
    created_ms        INTEGER NOT NULL,
    updated_ms        INTEGER NOT NULL
) STRICT;
CREATE INDEX notes_by_user ON notes (user_id, created_ms);

CREATE TABLE note_comments (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    note_id        INTEGER NOT NULL,
    user_id        INTEGER NOT NULL,
    -- The comment it stands below, and the one it answers; 0 for none.
    parent_id      INTEGER NOT NULL,
    answer_id      INTEGER NOT NULL,
    content        TEXT    NOT NULL,
    imported_likes INTEGER NOT NULL DEFAULT 0,
    -- 0 to be seen, 1 reported, 2 hidden.
    status         INTEGER NOT NULL DEFAULT 0,
    created_ms     INTEGER NOT NULL
) STRICT;
CREATE INDEX note_comments_by_note ON note_comments (note_id, id);

CREATE TABLE follows (
    user_id     INTEGER NOT NULL,
    followee_id INTEGER NOT NULL,
    created_ms  INTEGER NOT NULL,
    PRIMARY KEY (user_id, followee_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX follows_by_followee ON follows (followee_id, user_id);

CREATE TABLE sign_ins (
    user_id INTEGER NOT NULL,
    -- 2026-11-21, on the mall's wall.
    day     TEXT    NOT NULL,
    made_up INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day)
) STRICT, WITHOUT ROWID;
