-- Who likes what. Notes and comments hold how many.

CREATE TABLE likes (
    -- 1 a note, 2 a comment.
    kind       INTEGER NOT NULL,
    subject_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    liked_ms   INTEGER NOT NULL,
    PRIMARY KEY (kind, subject_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX likes_in_time ON likes (kind, subject_id, liked_ms, user_id);
