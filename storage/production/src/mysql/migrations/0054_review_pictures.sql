CREATE TABLE IF NOT EXISTS review_pictures (
    -- As in note_pictures.
    name      VARBINARY(255)  NOT NULL,
    review_id BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (name, review_id),
    KEY review_pictures_by_review (review_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
