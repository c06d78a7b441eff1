-- What people bought over the counter under a name, which is not bought twice.
CREATE TABLE purchases (
    user_id    INTEGER NOT NULL,
    voucher_id INTEGER NOT NULL,
    request    TEXT    NOT NULL,
    order_id   INTEGER NOT NULL,
    PRIMARY KEY (user_id, voucher_id, request)
) STRICT, WITHOUT ROWID;
