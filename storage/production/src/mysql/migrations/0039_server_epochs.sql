-- Which Redis server may take and settle claims, by partition: the one with the highest number. Rows stay, so that a server
-- that was superseded never becomes valid again.
CREATE TABLE IF NOT EXISTS server_epochs (
    -- 0 to 15: partitions of sales, 16: deadlines.
    scope    TINYINT UNSIGNED NOT NULL,
    number   BIGINT UNSIGNED  NOT NULL,
    -- The replication id.
    server   VARBINARY(64)    NOT NULL,
    is_open  TINYINT          NOT NULL,
    begun_ms BIGINT           NOT NULL,
    PRIMARY KEY (scope, number),
    UNIQUE KEY server_epochs_by_server (scope, server)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
