CREATE TABLE IF NOT EXISTS reviews (
    id            BIGINT UNSIGNED  NOT NULL AUTO_INCREMENT,
    shop_id       BIGINT UNSIGNED  NOT NULL,
    user_id       BIGINT UNSIGNED  NOT NULL,
    -- 0 an order, 1 an import, 2 the demo data.
    origin        TINYINT UNSIGNED NOT NULL,
    order_id      BIGINT UNSIGNED  NULL,
    -- Idempotency key of the request.
    request       VARCHAR(64)      NOT NULL,
    half_stars    TINYINT UNSIGNED NOT NULL,
    content       TEXT             NOT NULL,
    images        TEXT             NOT NULL,
    -- In cents.
    average_price BIGINT           NULL,
    -- 1 taste, 2 environment, 4 service.
    tags          TINYINT UNSIGNED NOT NULL,
    -- The newest line of vote_lines once more: its number and its sum.
    vote_lines    BIGINT           NOT NULL DEFAULT 0,
    votes         BIGINT           NOT NULL DEFAULT 0,
    -- The newest line that closed the votes.
    closed_line   BIGINT           NOT NULL DEFAULT 0,
    -- As in notes.
    status        TINYINT UNSIGNED NOT NULL DEFAULT 0,
    is_folded     TINYINT UNSIGNED NOT NULL DEFAULT 0,
    is_edited     TINYINT UNSIGNED NOT NULL DEFAULT 0,
    reply         TEXT             NULL,
    reply_ms      BIGINT           NULL,
    created_ms    BIGINT           NOT NULL,
    updated_ms    BIGINT           NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY reviews_by_order (order_id),
    KEY reviews_newest (shop_id, is_folded, created_ms, id),
    KEY reviews_best (shop_id, is_folded, votes, created_ms, id),
    KEY reviews_by_user (user_id, created_ms, id),
    KEY reviews_in_time (created_ms, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;
