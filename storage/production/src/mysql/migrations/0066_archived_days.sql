CREATE TABLE IF NOT EXISTS archived_days (
    -- Archived days of ledgers. Their files are in archive_parts.
    ledger      VARCHAR(32)     NOT NULL,
    -- Days since 1970-01-01, UTC.
    day         INT             NOT NULL,
    draft_id    BIGINT UNSIGNED NOT NULL,
    line_count  BIGINT          NOT NULL,
    -- Of the file, and of the text inside.
    bytes       BIGINT          NOT NULL,
    text_bytes  BIGINT          NOT NULL,
    -- Of the file.
    sha256      VARBINARY(32)   NOT NULL,
    archived_ms BIGINT          NOT NULL,
    PRIMARY KEY (ledger, day)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
