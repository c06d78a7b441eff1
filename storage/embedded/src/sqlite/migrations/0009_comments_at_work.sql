-- Comments are written here too, and notes and comments are reported.

-- Likes given here: beside those that a comment came with.
ALTER TABLE note_comments ADD COLUMN likes    INTEGER NOT NULL DEFAULT 0;
-- 1 for one that moved in to be seen: its note's imported_comments has it. So over the comments of a note,
-- notes.comments = SUM((status < 2) - imported), which may be below 0. Status 3 is deleted.
ALTER TABLE note_comments ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
UPDATE note_comments SET imported = (status < 2);
DROP INDEX note_comments_by_note;
CREATE INDEX note_comments_by_note   ON note_comments (note_id, parent_id, created_ms, id);
CREATE INDEX note_comments_by_parent ON note_comments (parent_id, created_ms, id) WHERE parent_id <> 0;

CREATE TABLE reports (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 0 a note, 1 a comment.
    kind       INTEGER NOT NULL,
    target_id  INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    reason     TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    -- When somebody decided who gets to see it.
    decided_ms INTEGER,
    UNIQUE (kind, target_id, user_id)
) STRICT;
CREATE INDEX reports_open ON reports (kind, target_id, created_ms) WHERE decided_ms IS NULL;
