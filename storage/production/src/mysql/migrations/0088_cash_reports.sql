-- Z reports.
CREATE TABLE IF NOT EXISTS cash_reports (
    number     BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    session_id BIGINT UNSIGNED NOT NULL,
    -- Idempotency key of the call that closed the session.
    request    VARBINARY(256)  NOT NULL,
    -- The report as JSON, and its SHA-256.
    body       MEDIUMTEXT      NOT NULL,
    digest     VARBINARY(32)   NOT NULL,
    UNIQUE KEY cash_reports_by_session (session_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
