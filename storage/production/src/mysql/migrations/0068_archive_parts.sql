CREATE TABLE IF NOT EXISTS archive_parts (
    -- Parts of the files of archived days and of drafts, by offset.
    draft_id BIGINT UNSIGNED NOT NULL,
    at_byte  BIGINT          NOT NULL,
    content  MEDIUMBLOB      NOT NULL,
    PRIMARY KEY (draft_id, at_byte)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
