-- Reviews of shops by their buyers, and votes for reviews.

CREATE TABLE reviews (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    shop_id       INTEGER NOT NULL,
    user_id       INTEGER NOT NULL,
    -- 0 an order, 1 an import, 2 the demo data.
    origin        INTEGER NOT NULL,
    order_id      INTEGER UNIQUE,
    -- Idempotency key of the request.
    request       TEXT    NOT NULL,
    half_stars    INTEGER NOT NULL,
    content       TEXT    NOT NULL,
    images        TEXT    NOT NULL,
    -- In cents.
    average_price INTEGER,
    -- 1 taste, 2 environment, 4 service.
    tags          INTEGER NOT NULL,
    -- The newest line of vote_lines once more: its number and its sum.
    vote_lines    INTEGER NOT NULL DEFAULT 0,
    votes         INTEGER NOT NULL DEFAULT 0,
    -- The newest line that closed the votes.
    closed_line   INTEGER NOT NULL DEFAULT 0,
    -- As in notes.
    status        INTEGER NOT NULL DEFAULT 0,
    is_folded     INTEGER NOT NULL DEFAULT 0,
    is_edited     INTEGER NOT NULL DEFAULT 0,
    reply         TEXT,
    reply_ms      INTEGER,
    created_ms    INTEGER NOT NULL,
    updated_ms    INTEGER NOT NULL
) STRICT;
CREATE INDEX reviews_newest  ON reviews (shop_id, is_folded, created_ms DESC, id DESC) WHERE status < 2;
CREATE INDEX reviews_best    ON reviews (shop_id, is_folded, votes DESC, created_ms DESC, id DESC) WHERE status < 2;
CREATE INDEX reviews_by_user ON reviews (user_id, created_ms, id);
CREATE INDEX reviews_in_time ON reviews (created_ms, id);

CREATE TABLE review_pictures (
    -- As in note_pictures.
    name      TEXT    NOT NULL,
    review_id INTEGER NOT NULL,
    PRIMARY KEY (name, review_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX review_pictures_by_review ON review_pictures (review_id);

-- The ledger of votes: append-only, and numbered per review without gaps.
CREATE TABLE vote_lines (
    review_id INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    -- 0 where the votes were closed.
    user_id   INTEGER NOT NULL,
    -- 0 taken back, 1 voted, 2 closed.
    cause     INTEGER NOT NULL,
    amount    INTEGER NOT NULL,
    sum_after INTEGER NOT NULL,
    at_ms     INTEGER NOT NULL,
    PRIMARY KEY (review_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX vote_lines_by_user ON vote_lines (user_id, review_id, number);
CREATE INDEX vote_lines_in_time ON vote_lines (at_ms, review_id, number);

-- By which voters see their own votes for a while.
CREATE TABLE vote_marks (
    user_id   INTEGER NOT NULL,
    review_id INTEGER NOT NULL,
    at_ms     INTEGER NOT NULL,
    PRIMARY KEY (user_id, review_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX vote_marks_by_review ON vote_marks (review_id);
CREATE INDEX vote_marks_in_time   ON vote_marks (at_ms);

-- The parts of a shop's score and comments.
ALTER TABLE shops ADD COLUMN imported_score    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE shops ADD COLUMN imported_comments INTEGER NOT NULL DEFAULT 0;
ALTER TABLE shops ADD COLUMN review_count      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE shops ADD COLUMN half_star_sum     INTEGER NOT NULL DEFAULT 0;
UPDATE shops SET imported_score = score, imported_comments = comments;
