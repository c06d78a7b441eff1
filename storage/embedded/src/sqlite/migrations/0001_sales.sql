-- People, shops, vouchers, sales, orders, payments: what one sale needs from end to end.
-- Instants are milliseconds since 1970 (UTC); 64-bit ids are stored as SQLite's signed integers.

CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    -- AUTOINCREMENT: an id is never given again.
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    phone      TEXT    NOT NULL UNIQUE,
    nick_name  TEXT    NOT NULL,
    icon       TEXT    NOT NULL DEFAULT '',
    role       INTEGER NOT NULL DEFAULT 0,
    password   TEXT,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;
-- Operators are few among many: only they are in it.
CREATE INDEX users_operators ON users (id) WHERE role = 1;

CREATE TABLE user_info (
    user_id    INTEGER PRIMARY KEY,
    city       TEXT    NOT NULL,
    introduce  TEXT    NOT NULL,
    gender     INTEGER NOT NULL,
    birthday   TEXT,
    credits    INTEGER NOT NULL,
    level      INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE shop_types (
    id         INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    icon       TEXT    NOT NULL,
    sort       INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE shops (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    type_id    INTEGER NOT NULL,
    images     TEXT    NOT NULL,
    area       TEXT    NOT NULL,
    address    TEXT    NOT NULL,
    x          REAL    NOT NULL,
    y          REAL    NOT NULL,
    avg_price  INTEGER,
    open_hours TEXT    NOT NULL,
    sold       INTEGER NOT NULL,
    comments   INTEGER NOT NULL,
    score      INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX shops_by_type ON shops (type_id);

CREATE TABLE vouchers (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    shop_id      INTEGER NOT NULL,
    title        TEXT    NOT NULL,
    sub_title    TEXT    NOT NULL,
    rules        TEXT    NOT NULL,
    pay_value    INTEGER NOT NULL,
    actual_value INTEGER NOT NULL,
    status       INTEGER NOT NULL,
    created_ms   INTEGER NOT NULL,
    updated_ms   INTEGER NOT NULL
) STRICT;
CREATE INDEX vouchers_by_shop ON vouchers (shop_id);

CREATE TABLE sales (
    voucher_id    INTEGER PRIMARY KEY,
    -- NULL = unlimited, in both.
    initial       INTEGER CHECK (initial >= 0),
    added         INTEGER NOT NULL DEFAULT 0,
    stock         INTEGER CHECK (stock >= 0),
    begin_ms      INTEGER NOT NULL,
    end_ms        INTEGER NOT NULL,
    paused        INTEGER NOT NULL DEFAULT 0,
    pay_within_ms INTEGER NOT NULL,
    min_level     INTEGER NOT NULL,
    created_ms    INTEGER NOT NULL,
    -- The smallest and the largest id among its orders: its buyers are looked for between them, without an index by
    -- voucher.
    first_order   INTEGER,
    last_order    INTEGER
) STRICT;

CREATE TABLE orders (
    id          INTEGER PRIMARY KEY,
    user_id     INTEGER NOT NULL,
    voucher_id  INTEGER NOT NULL,
    -- 0 for a live order of a sale, else the order's own id: see the index.
    slot        INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    pay_value   INTEGER NOT NULL,
    pay_type    INTEGER NOT NULL,
    created_ms  INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    paid_ms     INTEGER,
    used_ms     INTEGER,
    refunded_ms INTEGER
) STRICT;
-- The one index that every order pays for. It allows one live order a sale and user, finds it, and lists a user's
-- orders.
CREATE UNIQUE INDEX orders_by_user ON orders (user_id, voucher_id, slot);
-- Small at any time: deadlines are rebuilt from it.
CREATE INDEX orders_unpaid ON orders (id, deadline_ms) WHERE status = 1;

CREATE TABLE dead_letters (
    -- Not the order's id: of two claims with one id, each may end here.
    entry      INTEGER PRIMARY KEY,
    order_id   INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    voucher_id INTEGER NOT NULL,
    claimed_ms INTEGER NOT NULL,
    reason     TEXT    NOT NULL,
    detail     TEXT    NOT NULL,
    holds_unit INTEGER NOT NULL,
    buried_ms  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX dead_letters_by_claim ON dead_letters (order_id, user_id, voucher_id);
CREATE INDEX dead_letters_by_voucher ON dead_letters (voucher_id, user_id);

CREATE TABLE payments (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    order_id   INTEGER NOT NULL,
    amount     INTEGER NOT NULL,
    -- 0 started, 1 captured, 2 refunded, 3 failed.
    state      INTEGER NOT NULL,
    started_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    -- Started, or captured on a cancelled order.
    needs_look INTEGER NOT NULL
) STRICT;
CREATE INDEX payments_by_order ON payments (order_id);
CREATE UNIQUE INDEX payments_open ON payments (order_id) WHERE state IN (0, 1);
CREATE INDEX payments_to_look_at ON payments (started_ms) WHERE needs_look = 1;

CREATE TABLE sequences (
    name     TEXT    NOT NULL,
    day      INTEGER NOT NULL,
    -- Every number below may have been given out.
    reserved INTEGER NOT NULL,
    PRIMARY KEY (name, day)
) STRICT, WITHOUT ROWID;
