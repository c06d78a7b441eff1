-- From which note on a follow brings somebody's notes into a feed, and whose notes are read from here by their fans.

ALTER TABLE follows ADD COLUMN since_ms INTEGER NOT NULL DEFAULT 0;
CREATE INDEX follows_by_fan ON follows (followee_id, user_id);

CREATE TABLE authors_with_many_fans (
    user_id INTEGER PRIMARY KEY
) STRICT, WITHOUT ROWID;
