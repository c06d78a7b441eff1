CREATE TABLE IF NOT EXISTS pictures (
    -- What people upload. Its bytes are apart: a binary log would repeat them whenever a row is touched.
    id         BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT PRIMARY KEY,
    -- As /blogs/… tells it, without the /imgs before it.
    name       VARCHAR(255)     NOT NULL,
    owner_id   BIGINT UNSIGNED  NOT NULL,
    kind       TINYINT UNSIGNED NOT NULL,
    bytes      BIGINT UNSIGNED  NOT NULL,
    created_ms BIGINT           NOT NULL,
    -- When it was last known to be wanted.
    touched_ms BIGINT           NOT NULL,
    UNIQUE KEY pictures_by_name (name),
    KEY pictures_by_owner (owner_id, bytes),
    KEY pictures_by_touch (touched_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
