CREATE TABLE IF NOT EXISTS event_subscribers (
    -- Events are written while there is a row.
    id          BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name        VARCHAR(40)     NOT NULL,
    -- log, webhook or stream.
    target      VARCHAR(10)     NOT NULL,
    url         VARCHAR(2048)   NOT NULL,
    secret      VARCHAR(200)    NOT NULL,
    -- Names of kinds with commas between, empty for all.
    kinds       VARCHAR(500)    NOT NULL,
    -- Position of the last event handed over (`cursor` is a keyword).
    at_position BIGINT UNSIGNED NOT NULL,
    is_paused   TINYINT         NOT NULL DEFAULT 0,
    lost        BIGINT UNSIGNED NOT NULL DEFAULT 0,
    error       VARCHAR(200),
    error_ms    BIGINT,
    created_ms  BIGINT          NOT NULL,
    UNIQUE KEY event_subscribers_by_name (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
