CREATE TABLE IF NOT EXISTS settings (
    -- Bytes: as text, a name with a space behind it would be the same name.
    name  VARBINARY(1020) NOT NULL PRIMARY KEY,
    value TEXT            NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
