CREATE TABLE IF NOT EXISTS note_pictures (
    -- The pictures of notes, by which one that no note shows is known. As /blogs/… tells it, without the /imgs before it.
    name    VARBINARY(255)  NOT NULL,
    note_id BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (name, note_id),
    KEY note_pictures_by_note (note_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
