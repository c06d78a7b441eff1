ALTER TABLE notes
    -- Rows of this mall's own: beside what a note came with.
    ADD COLUMN likes    BIGINT UNSIGNED  NOT NULL DEFAULT 0,
    -- May be below 0: one that a note came with may go.
    ADD COLUMN comments BIGINT           NOT NULL DEFAULT 0,
    -- 0 to be seen, 1 reported and to be seen, 2 hidden by an operator, 3 deleted: an empty row, so that feeds keep their places.
    ADD COLUMN status   TINYINT UNSIGNED NOT NULL DEFAULT 0,
    -- Whether the inboxes of feeds have it. Those that moved in are in the record alone, where inboxes are filled from.
    ADD COLUMN pushed   TINYINT UNSIGNED NOT NULL DEFAULT 1,
    ADD COLUMN liked    BIGINT UNSIGNED  GENERATED ALWAYS AS (imported_likes + likes) VIRTUAL,
    ADD KEY notes_hot (liked, created_ms, id),
    ADD KEY notes_unpushed (pushed, created_ms);
