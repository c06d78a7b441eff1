-- Who likes what. Notes and comments hold how many.

CREATE TABLE likes (
    -- 0 a note, 1 a comment.
    kind       INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    liked_ms   INTEGER NOT NULL,
    PRIMARY KEY (kind, target_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX likes_in_time ON likes (kind, target_id, liked_ms, user_id);
