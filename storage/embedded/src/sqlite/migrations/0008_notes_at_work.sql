-- Notes are written here too, and liked, commented on, reported and passed on to feeds.

-- Rows of this mall's own: beside what a note came with.
ALTER TABLE notes ADD COLUMN likes    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notes ADD COLUMN comments INTEGER NOT NULL DEFAULT 0;
-- 0 to be seen, 1 reported and to be seen, 2 hidden by an operator, 3 deleted: an empty row, so that feeds keep their places.
ALTER TABLE notes ADD COLUMN status   INTEGER NOT NULL DEFAULT 0;
-- Whether the inboxes of feeds have it. Those that moved in are in the record alone, where inboxes are filled from.
ALTER TABLE notes ADD COLUMN pushed   INTEGER NOT NULL DEFAULT 1;
ALTER TABLE notes ADD COLUMN liked    INTEGER GENERATED ALWAYS AS (imported_likes + likes) VIRTUAL;
CREATE INDEX notes_hot      ON notes (liked DESC, created_ms DESC, id DESC) WHERE status < 2;
CREATE INDEX notes_unpushed ON notes (created_ms) WHERE pushed = 0;

-- The pictures of notes, by which one that no note shows is known.
CREATE TABLE note_pictures (
    -- As /blogs/… tells it, without the /imgs before it.
    name    TEXT    NOT NULL,
    note_id INTEGER NOT NULL,
    PRIMARY KEY (name, note_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_pictures_by_note ON note_pictures (note_id);
