CREATE TABLE IF NOT EXISTS picture_files (
    -- Pictures that an import left as files, by name: of its notes and users. As in note_pictures.
    name       VARBINARY(255)   NOT NULL PRIMARY KEY,
    -- 0 shown by an imported note or user, 1 given up by one of them, 2 erased by an operator.
    state      TINYINT UNSIGNED NOT NULL,
    changed_ms BIGINT           NOT NULL,
    KEY picture_files_by_change (changed_ms, name)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
