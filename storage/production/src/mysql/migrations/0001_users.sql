-- Instants are milliseconds since 1970 (UTC). Texts compare byte by byte.
CREATE TABLE IF NOT EXISTS users (
    id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    phone        VARCHAR(32)     NOT NULL,
    nick_name    TEXT            NOT NULL,
    icon         TEXT            NOT NULL,
    role         TINYINT         NOT NULL,
    password     TEXT,
    -- Since when this person is kept out, if they are.
    blocked_ms   BIGINT,
    block_reason TEXT,
    created_ms   BIGINT          NOT NULL,
    updated_ms   BIGINT          NOT NULL,
    UNIQUE KEY users_by_phone (phone),
    -- InnoDB adds the id: users of a role are listed from it.
    KEY users_by_role (role),
    KEY users_blocked (blocked_ms)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
