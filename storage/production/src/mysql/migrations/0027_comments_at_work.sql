ALTER TABLE note_comments
    -- Likes given here: beside those that a comment came with.
    ADD COLUMN likes    BIGINT UNSIGNED  NOT NULL DEFAULT 0,
    -- 1 for one that moved in to be seen: its note's imported_comments has it. So over the comments of a note,
    -- notes.comments = SUM((status < 2) - imported), which may be below 0. Status 3 is deleted.
    ADD COLUMN imported TINYINT UNSIGNED NOT NULL DEFAULT 0,
    DROP KEY note_comments_by_note,
    ADD KEY note_comments_in_time (note_id, parent_id, created_ms, id),
    ADD KEY note_comments_by_parent (parent_id, created_ms, id);
